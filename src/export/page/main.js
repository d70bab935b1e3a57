// Shows the page.
import {decodeProfile, embeddedBytes} from './decode.js';

async function showPage() {
  const profile = decodeProfile(await embeddedBytes(document));
  document.title = profile.title;
  const text = document.createElement('pre');
  text.textContent = profile.measures.map((measure) => `${measure.name}: ${measure.total} ${measure.unit}`).join('\n');
  document.getElementById('page')?.append(text);
}

showPage();

// Shows the page.
import { decodeProfile, embeddedBytes } from './decode.js';
import { showFailure, startPage } from './page_start.js';

async function showPage() {
  const place = /** @type {HTMLElement} */ (document.getElementById('page'));
  try {
    const profile = decodeProfile(await embeddedBytes(document));
    performance.mark('decoded');
    startPage(profile, place);
    performance.mark('drawn');
  } catch (error) {
    showFailure(error, place);
  }
  document.documentElement.dataset.ready = 'yes';
}

void showPage();

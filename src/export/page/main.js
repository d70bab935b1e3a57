// Shows the page.
import { decodeProfile, embeddedBytes } from './decode.js';
import { showFailure, startPage } from './page_start.js';

async function showPage() {
  const place = /** @type {HTMLElement} */ (document.getElementById('page'));
  try {
    startPage(decodeProfile(await embeddedBytes(document)), place);
  } catch (error) {
    showFailure(error, place);
  }
  document.documentElement.dataset.ready = 'yes';
}

void showPage();

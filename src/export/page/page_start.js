// Starts the page on a profile: the state of the link, and its way back into the address.
import { PageModel } from './page_model.js';
import { PageView } from './page_view.js';
import { linkOfState, stateOfLink } from './view_link.js';
import { make } from './page_elements.js';
import { withUnnamedRows } from './unnamed_code.js';

/** Names are made ready for the search when the first picture has been there for a moment. */
const SEARCH_READY_MS = 400;
const NAMES_AT_A_TIME = 8192;

/**
 * @param {Profile} decoded
 * @param {HTMLElement} place
 * @returns {PageView}
 */
export function startPage(decoded, place) {
  const profile = withUnnamedRows(decoded);
  const model = new PageModel(profile, stateOfLink(location.hash, profile));
  const view = new PageView(model);
  let waiting = false;
  let isStep = false;
  // After what is seen: a browser takes milliseconds to note an address.
  model.onLinkChange = (step) => {
    isStep ||= step;
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      noteLink(linkOfState(model.state, profile), isStep);
      waiting = isStep = false;
    }, 0);
  };
  addEventListener('popstate', () => model.restore(stateOfLink(location.hash, profile)));
  view.mount(place);
  setTimeout(() => prepareNames(model), SEARCH_READY_MS);
  return view;
}

/**
 * @param {string} link
 * @param {boolean} step of the history, which "back" undoes
 */
function noteLink(link, step) {
  const address = link === '' ? location.pathname + location.search : `#${link}`;
  try {
    if (step) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
  } catch {
    // Browsers limit how often; the link is up to date again with the next change.
  }
}

/**
 * A few at a time, so that nothing waits for it.
 * @param {PageModel} model
 */
function prepareNames(model) {
  if (!model.names.prepare(NAMES_AT_A_TIME)) setTimeout(() => prepareNames(model), 0);
}

/**
 * Says in the page why there is nothing in it.
 * @param {unknown} error
 * @param {HTMLElement} place
 */
export function showFailure(error, place) {
  const text = error instanceof Error ? error.message : String(error);
  place.replaceChildren(make('div', { class: 'failure', role: 'alert' },
    make('h1', {}, 'This page cannot be shown'), make('p', {}, text)));
}

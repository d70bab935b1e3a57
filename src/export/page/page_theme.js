// Light or dark: the system's choice, unless the reader of the page made one.
import { DARK_PALETTE, LIGHT_PALETTE } from './colour_rules.js';

const DARK_QUERY = '(prefers-color-scheme: dark)';
/** Paper is light. */
const printing = { now: false };

/**
 * @param {ViewState['theme']} theme
 * @returns {boolean}
 */
export function isDark(theme) {
  return theme === 'dark' || (theme === 'auto' && matchMedia(DARK_QUERY).matches);
}

/**
 * @param {ViewState} state
 * @returns {import('./colour_rules.js').Palette}
 */
export function paletteOf(state) {
  return isDark(state.theme) && !printing.now ? DARK_PALETTE : LIGHT_PALETTE;
}

/** @param {ViewState['theme']} theme */
export function showTheme(theme) {
  document.documentElement.dataset.theme = isDark(theme) && !printing.now ? 'dark' : 'light';
}

/**
 * Calls when the system's choice changes, and around printing.
 * @param {() => void} onChange
 */
export function watchTheme(onChange) {
  matchMedia(DARK_QUERY).addEventListener('change', onChange);
  addEventListener('beforeprint', () => {
    printing.now = true;
    onChange();
  });
  addEventListener('afterprint', () => {
    printing.now = false;
    onChange();
  });
}

/** @returns {boolean} */
export function isPrinting() {
  return printing.now;
}

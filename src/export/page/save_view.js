// Copies and saves what is seen.
import { announce, make } from './page_elements.js';
import { FLAME_FONT } from './flame_painter.js';
import { PICTURE_HEAD, PICTURE_MARGIN, svgOfPicture } from './svg_picture.js';

/** Canvases have a limit in browsers; pictures beyond it are drawn smaller. */
const MOST_PIXELS = 60e6;

/**
 * @param {string} text
 * @param {string} what it is, for the message
 * @returns {Promise<void>}
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text);
  }
  showMessage(`${what} copied`);
}

/** @param {string} text */
function copyBySelection(text) {
  const area = make('textarea', { class: 'quiet', 'aria-hidden': 'true' });
  area.value = text;
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}

/**
 * Shows a line for a moment, and reads it out.
 * @param {string} text
 */
export function showMessage(text) {
  announce(text);
  const message = make('div', { class: 'message', 'aria-hidden': 'true' }, text);
  document.body.append(message);
  setTimeout(() => message.remove(), 1800);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * @param {import('./svg_picture.js').Picture} picture
 * @param {string} name without ending
 */
export function saveSvg(picture, name) {
  download(new Blob([svgOfPicture(picture)], { type: 'image/svg+xml' }), `${name}.svg`);
  showMessage('SVG saved');
}

/**
 * @param {import('./svg_picture.js').Picture} picture
 * @param {string} name without ending
 */
export function savePng(picture, name) {
  const canvas = paintPicture(picture);
  canvas.toBlob((blob) => {
    if (!blob) return showMessage('The browser cannot make a picture of this size');
    download(blob, `${name}.png`);
    showMessage('PNG saved');
  }, 'image/png');
}

/**
 * @param {import('./svg_picture.js').Picture} picture
 * @returns {HTMLCanvasElement}
 */
export function paintPicture(picture) {
  const width = picture.width + 2 * PICTURE_MARGIN;
  const height = PICTURE_HEAD + picture.height + PICTURE_MARGIN + 24;
  const ratio = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = make('canvas', {});
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(ratio, ratio);
  context.fillStyle = picture.colours.back;
  context.fillRect(0, 0, width, height);
  context.fillStyle = picture.colours.text;
  context.font = FLAME_FONT.replace('12px', '600 15px');
  context.fillText(picture.title, PICTURE_MARGIN, 22, picture.width);
  context.font = FLAME_FONT;
  context.fillStyle = picture.colours.dimText;
  context.fillText(picture.subtitle, PICTURE_MARGIN, 40, picture.width);
  for (const box of picture.boxes) paintBox(context, box, picture);
  let x = PICTURE_MARGIN;
  for (const entry of picture.legend) {
    context.fillStyle = entry.fill;
    context.fillRect(x, height - 24, 12, 12);
    context.fillStyle = picture.colours.dimText;
    context.fillText(entry.text, x + 17, height - 14);
    x += 34 + context.measureText(entry.text).width;
  }
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./svg_picture.js').PictureBox} box
 * @param {import('./svg_picture.js').Picture} picture
 */
function paintBox(context, box, picture) {
  context.fillStyle = box.fill;
  context.fillRect(PICTURE_MARGIN + box.x, PICTURE_HEAD + box.y, box.width, box.height);
  if (box.found) {
    context.fillStyle = picture.colours.found;
    context.fillRect(PICTURE_MARGIN + box.x, PICTURE_HEAD + box.y + box.height - 3, box.width, 3);
  }
  if (box.label === '') return;
  context.fillStyle = box.text;
  context.fillText(box.label, PICTURE_MARGIN + box.x + 5, PICTURE_HEAD + box.y + box.height - 5);
}

// Making elements. Texts only ever become text nodes.

/**
 * An element with attributes and children; strings among the children are text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | ((event: any) => void)>} attributes handlers as onclick, ...
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * A labelled choice.
 * @param {string} label
 * @param {string[][]} options value and text
 * @param {(value: string) => void} onPick
 * @returns {{field: HTMLLabelElement, select: HTMLSelectElement}}
 */
export function makeChoice(label, options, onPick) {
  const select = make('select', { onchange: () => onPick(select.value) },
    ...options.map(([value, text]) => make('option', { value }, text)));
  return { field: make('label', { class: 'choice' }, make('span', {}, label), select), select };
}

/**
 * A button that stays pressed or not.
 * @param {string} text
 * @param {string} title
 * @param {() => void} onPress
 * @returns {HTMLButtonElement}
 */
export function makeToggle(text, title, onPress) {
  return make('button', { type: 'button', class: 'toggle', title, 'aria-pressed': 'false', onclick: onPress }, text);
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, string | boolean>} attributes false takes one away
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : value);
  }
}

/**
 * Does something when the picture that is being made has been shown.
 * @param {() => void} work
 */
export function afterPicture(work) {
  requestAnimationFrame(() => setTimeout(work, 0));
}

/**
 * Says something to screen readers, and to nobody else.
 * @param {string} text
 */
export function announce(text) {
  const region = document.getElementById('announcements');
  if (region) region.textContent = text;
}

/**
 * @param {HTMLElement} element
 * @param {string} name of a custom property
 * @returns {string}
 */
export function styleValue(element, name) {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

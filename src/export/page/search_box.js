// The field for searching, and what it found.
import { make, makeToggle } from './page_elements.js';
import { groupedText, percentText } from './number_text.js';

export class SearchBox {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {() => void} onEnter
   */
  constructor(model, onEnter) {
    this.model = model;
    this.field = make('input', {
      type: 'search', placeholder: 'Search functions', 'aria-label': 'Search functions', title: 'A part of a name; with * and ? a whole one; /expression/; MODULE!name', 'aria-describedby': 'search-result',
      spellcheck: 'false', autocomplete: 'off',
      oninput: () => model.update({ query: this.field.value }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event, onEnter),
    });
    this.regex = makeToggle('.*', 'Regular expression', () => model.update({ regex: !model.state.regex }));
    this.regex.setAttribute('aria-label', 'Regular expression');
    this.result = make('output', { id: 'search-result', class: 'search-result' });
    this.element = make('search', { class: 'search' }, this.field, this.regex, this.result);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {() => void} onEnter
   */
  onKey(event, onEnter) {
    if (event.key === 'Enter') onEnter();
    else if (event.key === 'Escape' && this.field.value !== '') this.model.update({ query: '' });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  refresh() {
    const { model } = this;
    if (this.field.value !== model.state.query) this.field.value = model.state.query;
    this.regex.setAttribute('aria-pressed', String(model.state.regex));
    const { mask, functions, error } = model.search;
    this.field.setAttribute('aria-invalid', String(error !== ''));
    this.result.classList.toggle('error', error !== '');
    if (error !== '') this.result.textContent = error;
    else if (!mask) this.result.textContent = '';
    else {
      this.result.textContent = `${groupedText(functions)} ${functions === 1 ? 'function' : 'functions'}, ` +
        `${percentText(model.matched, model.total)} of what is selected`;
    }
  }
}

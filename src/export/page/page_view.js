// The page: its parts, what they do to each other, and the keys that work everywhere.
import { callstackText } from './callstack_text.js';
import { ChartView } from './chart_view.js';
import { commandLine } from './command_line.js';
import { DetailsBar } from './details_bar.js';
import { EventTables } from './event_tables.js';
import { FlamePanel } from './flame_panel.js';
import { costText, FunctionTableView } from './function_table.js';
import { HoverCard, nodeLine, shareText } from './node_details.js';
import { LaneView } from './lane_view.js';
import { groupedText, unitName, weightText } from './number_text.js';
import { makeAboutDialog, makeHelpDialog, makeLossLine, makeRemarkButton } from './page_dialogs.js';
import { announce, make } from './page_elements.js';
import { paletteOf, showTheme, watchTheme } from './page_theme.js';
import { flip, nextTheme, Toolbar, VIEW_TABS, ViewTabs } from './page_toolbar.js';
import { PathBar } from './path_bar.js';
import { SandwichView } from './sandwich_view.js';
import { copyText, savePng, saveSvg } from './save_view.js';
import { SearchBox } from './search_box.js';
import { shownText } from './shown_names.js';
import { ThreadTable } from './thread_table.js';
import { TimeOverview } from './time_overview.js';
import { pathOfNode } from './tree_math.js';
import { hasView, tablesOf } from './view_link.js';

export class PageView {
  /** @param {import('./page_model.js').PageModel} model */
  constructor(model) {
    this.model = model;
    this.card = new HoverCard();
    this.help = makeHelpDialog(VIEW_TABS.flatMap(([view, text], k) => (hasView(model.profile, view) ? [[String(k + 1), text]] : [])));
    this.about = makeAboutDialog(model.profile);
    this.tabs = new ViewTabs(model);
    this.search = new SearchBox(model, () => this.enterSearch());
    this.toolbar = new Toolbar(model, {
      saveSvg: () => this.savePicture('svg'), savePng: () => this.savePicture('png'),
    });
    this.path = new PathBar(model);
    this.overview = new TimeOverview(model);
    this.flame = this.makeFlame();
    this.flameEmpty = make('p', { class: 'empty', hidden: true });
    this.sandwich = new SandwichView(model, this.card, (panel, node) => this.onFocus(panel, node));
    this.functions = new FunctionTableView(model, (fn) => model.update({ view: 'sandwich', fn }));
    this.threads = new ThreadTable(model, (left, right) => this.overview.align(left, right));
    this.lanes = new LaneView(model, this.card);
    this.chart = new ChartView(model, this.card, (panel, node) => this.onFocus(panel, node));
    this.events = new EventTables(tablesOf(model.profile.tables, false), 'Events');
    this.source = new EventTables(tablesOf(model.profile.tables, true), 'Source', Number(model.profile.measures[0]?.total ?? 0n));
    this.details = new DetailsBar(model, {
      zoom: () => {}, sandwich: () => this.openSandwich(), copy: () => this.copyCallstack(),
    });
    /** @type {FlamePanel} */
    this.active = this.flame;
    this.panels = this.makePanels();
    this.themeButton = make('button', { type: 'button', class: 'action', title: 'Light, dark, or as the system has it (t)',
      onclick: () => model.update({ theme: nextTheme(model.state.theme) }) });
    this.commandButton = make('button', { type: 'button', class: 'action', onclick: () => void copyText(this.commandButton.title, 'Command line') }, 'Copy command');
    this.summary = make('p', { class: 'summary' });
  }

  /** @param {HTMLElement} place where the page goes */
  mount(place) {
    const { profile } = this.model;
    const about = () => this.about.showModal();
    const head = make('header', { class: 'page-head' },
      make('div', { class: 'title-box' }, make('h1', { title: shownText(profile.title) }, shownText(profile.title) || 'profile'),
        make('div', { class: 'summary-line' }, this.summary, makeRemarkButton(profile, about))),
      make('div', { class: 'head-actions' }, make('button', { type: 'button', class: 'action', title: 'A link to this view (l)', onclick: () => this.copyLink() }, 'Copy link'),
        this.commandButton,
        make('button', { type: 'button', class: 'action', onclick: about }, 'About'),
        this.themeButton,
        make('button', { type: 'button', class: 'action', title: 'Keys (?)', onclick: () => this.help.showModal() }, 'Keys')));
    const bar = make('div', { class: 'view-bar' }, this.tabs.element, this.search.element);
    const views = make('div', { class: 'views' }, this.path.element, ...Object.values(this.panels));
    const main = make('main', {}, makeLossLine(profile, about), bar, this.toolbar.element, this.overview.element, views);
    place.append(head, main, this.details.element,
      make('div', { id: 'announcements', class: 'quiet', 'aria-live': 'polite' }), this.card.element, this.help, this.about);
    document.title = `${shownText(profile.title) || 'profile'} – stackpack`;
    this.model.listen((changed) => this.onChange(changed));
    watchTheme(() => this.refresh());
    addEventListener('keydown', (event) => this.onKey(event));
    this.refresh();
  }

  /** @returns {FlamePanel} */
  makeFlame() {
    const { model } = this;
    return new FlamePanel(model, {
      id: 'flame', label: 'Flame graph: arrows move, Enter zooms',
      view: () => (model.state.view === 'flame' && model.total > 0 ? model.flame : null),
      window: () => model.flameWindow,
      direction: () => model.state.direction,
      leafFirst: () => model.state.inverted,
      rootText: () => `all, ${weightText(model.total, model.measure.unit)}`,
      onOpen: (node) => model.update({ zoom: pathOfNode(model.flame, node), window: null }),
      onWindow: (window) => model.update({ window }),
      onLeave: () => false,
      onFocus: (panel, node) => this.onFocus(panel, node),
    }, this.card);
  }

  /** @returns {Record<ViewState['view'], HTMLElement>} */
  makePanels() {
    const content = {
      flame: [this.flameEmpty, this.flame.element], sandwich: [this.sandwich.element],
      functions: [this.functions.element], timeline: [this.threads.element], lanes: [this.lanes.element],
      events: [this.events.element], source: [this.source.element],
      chart: [this.chart.element],
    };
    return /** @type {any} */ (Object.fromEntries(VIEW_TABS.map(([view]) => [view,
      make('div', { class: `panel panel-${view}`, role: 'tabpanel', id: `panel-${view}`, 'aria-labelledby': `tab-${view}` },
        ...content[view])])));
  }

  /**
   * One step out: of the selection, of the zoom, of callers and callees.
   * @returns {boolean} whether there was one
   */
  leave() {
    const { window, zoom, view } = this.model.state;
    if (this.model.filtered) this.model.update({ range: null, threads: null, label: '' });
    else if (view === 'sandwich') this.model.update({ view: 'functions' });
    else if (view === 'flame' && window) this.model.update({ window: null });
    else if (view === 'flame' && zoom.length > 0) this.model.update({ zoom: zoom.slice(0, -1) });
    else return false;
    return true;
  }

  /** @param {Set<string>} changed */
  onChange(changed) {
    this.refresh(changed);
    const { model } = this;
    if (changed.has('query') || changed.has('regex')) announce(this.search.result.textContent ?? '');
    if (changed.has('view')) announce(VIEW_TABS.find(([view]) => view === model.state.view)?.[1] ?? '');
  }

  /** @param {Set<string>} [changed] fields of the state; without it everything is refreshed */
  refresh(changed) {
    const { model } = this;
    const { state } = model;
    const of = (/** @type {string[]} */ ...fields) => !changed || fields.some((field) => changed.has(field));
    if (of('theme')) showTheme(state.theme);
    for (const [view, panel] of Object.entries(this.panels)) panel.hidden = view !== state.view;
    this.tabs.refresh();
    this.toolbar.refresh();
    if (state.view !== 'timeline') this.overview.inset('', '');
    if (of('range', 'threads', 'label', 'measure', 'theme', 'colour')) this.overview.refresh();
    if (of('zoom', 'window', 'view')) this.path.refresh();
    this.themeButton.textContent = { auto: 'Theme: auto', dark: 'Theme: dark', light: 'Theme: light' }[state.theme];
    this.commandButton.title = commandLine(model.profile, state);
    this.commandButton.hidden = this.commandButton.title === '';
    this.summary.textContent = this.summaryText();
    if (of('colour', 'measure', 'theme', 'view', 'range', 'threads', 'label', 'side')) this.details.refresh();
    this.refreshView(changed !== undefined && of('zoom', 'inverted', 'merged', 'root'));
    this.search.refresh();
  }

  /** @param {boolean} moved whether the graph shows another part */
  refreshView(moved) {
    const { view, zoom } = this.model.state;
    this.flameEmpty.hidden = this.model.total > 0;
    this.flameEmpty.textContent = this.model.filtered ? 'No samples are selected.' : 'There are no callstacks in this file.';
    if (view === 'flame') this.showActive(this.flame, moved ? zoom : this.flame.focusPath);
    else if (view === 'sandwich') this.sandwich.refresh();
    else if (view === 'functions') this.functions.refresh();
    else if (view === 'lanes') this.lanes.refresh();
    else if (view === 'events') this.events.refresh();
    else if (view === 'source') this.source.refresh();
    else if (view === 'chart') this.chart.refresh(this.chartKey !== (this.chartKey = JSON.stringify(this.model.filterKey)));
    else this.threads.refresh();
    if (view === 'chart') this.showActive(this.chart.panel, []);
    if (view === 'sandwich') this.showActive(this.active === this.flame || this.active === this.chart.panel ? this.sandwich.callees : this.active, []);
  }

  /**
   * @param {FlamePanel} panel
   * @param {number[]} path of the focus in the flame graph
   */
  showActive(panel, path) {
    this.active = panel;
    if (panel === this.flame && path === panel.focusPath) panel.refresh();
    else if (panel === this.flame) panel.refreshAt(path);
    this.details.focusRow.hidden = panel.scene === null;
    if (panel.scene) this.details.show(panel.scene.view, panel.focusNode, panel.source.rootText());
  }

  /** @returns {string} */
  summaryText() {
    const { model } = this;
    const { measure, profile } = model;
    const name = shownText(measure.name);
    const whole = `${weightText(measure.total, measure.unit)}${name && name !== unitName(measure.unit) ? ` of ${name}` : ''}`;
    const { diff } = profile;
    if (diff?.work && diff.whole) return `a ${shownText(diff.work)}: ${costText(diff.whole, measure.unit)} · ${groupedText(model.functions)} functions`;
    const sides = profile.sides.length > 1 ? ` · ${profile.sides.map(shownText).join(' against ')}` : '';
    const counts = ` · ${groupedText(model.functions)} functions · ${groupedText(Math.max(0, profile.tree.count - 1))} nodes`;
    return model.filtered ? `${shareText(model, model.total, Number(measure.total))} of ${whole} selected` : whole + sides + counts;
  }

  /**
   * @param {FlamePanel} panel
   * @param {number} node
   */
  onFocus(panel, node) {
    this.active = panel;
    if (panel.scene) this.details.show(panel.scene.view, node, panel.source.rootText());
  }

  enterSearch() {
    const { state, rows } = this.model;
    if (rows.length === 0) return;
    if (state.view === 'sandwich') return this.model.update({ fn: rows[0] });
    if (state.view !== 'functions') this.model.update({ view: 'functions' });
    this.functions.goTo(0);
  }

  openSandwich() {
    const scene = this.active.scene;
    const fn = scene ? scene.view.fn[this.active.focusNode] : -1;
    if (fn >= 0 && fn < this.model.profile.functionCount && this.active.focusNode !== 0) this.model.update({ view: 'sandwich', fn });
  }

  copyCallstack() {
    const { scene, source } = this.active;
    if (!scene) return;
    const node = this.active.focusNode;
    const weight = shareText(this.model, scene.view.total[node], scene.view.whole[0]);
    void copyText(callstackText(this.model.profile, scene.view, node, source.leafFirst(), weight), 'Callstack');
  }

  copyLink() {
    void copyText(location.href, 'Link');
  }

  /** @param {'svg' | 'png'} kind */
  savePicture(kind) {
    const { model } = this;
    const panel = model.state.view === 'chart' ? this.chart.panel : model.state.view === 'sandwich' ? this.active === this.flame ? this.sandwich.callees : this.active : this.flame;
    const scene = panel.scene;
    const boxes = scene && panel.picture((node) => nodeLine(model, scene.view, node, panel.source.rootText()));
    if (!boxes) return;
    const palette = paletteOf(model.state);
    const colours = model.state.colour === 'change' ? palette.changes : palette.kinds;
    const picture = { ...boxes, title: document.title, subtitle: this.summaryText(), colours: palette,
      legend: model.colouring.legend.map((entry) => ({ fill: colours[entry.kind], text: entry.text })) };
    const name = (model.profile.title.replace(/[^\w.-]+/g, '-').slice(0, 80) || 'profile');
    if (kind === 'svg') saveSvg(picture, name);
    else savePng(picture, name);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (target.matches('input:not([type=checkbox]), select, textarea')) return;
    if (!this.actOnKey(event.key)) return;
    event.preventDefault();
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it is a key of the page
   */
  actOnKey(key) {
    const tab = VIEW_TABS[Number(key) - 1];
    if (tab && hasView(this.model.profile, tab[0])) {
      this.model.update({ view: tab[0] });
      this.focusView();
    } else if (key === '/') {
      this.search.field.focus();
      this.search.field.select();
    } else if (key === '?') this.help.showModal();
    else if (key === 's') this.openSandwich();
    else if (key === 'c') this.copyCallstack();
    else if (key === 'l') this.copyLink();
    else if (key === 'Escape' || key === 'Backspace') return this.leave();
    else return flip(this.model, key);
    return true;
  }

  /** Gives the keyboard to the view that is shown. */
  focusView() {
    const { view } = this.model.state;
    if (view === 'flame') this.flame.mirror.element.focus({ preventScroll: true });
    else if (view === 'sandwich') this.sandwich.callees.mirror.element.focus({ preventScroll: true });
    else if (view === 'functions' && this.model.rows.length > 0) this.functions.goTo(this.functions.current);
    else if (view === 'lanes') this.lanes.scroller.focus();
    else if (view === 'events') this.events.element.focus();
    else if (view === 'source') this.source.element.focus();
    else if (view === 'chart') this.chart.panel.mirror.element.focus({ preventScroll: true });
    else this.panels[view].querySelector('input')?.focus();
  }
}

/** Style sheet of the console: one type scale, one set of colours for light and dark, and no inline style. */
export const CONSOLE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fafaf8, #14161a);
  --card: light-dark(#fff, #1c1f25);
  --line: light-dark(#dcdcd7, #343943);
  --ink: light-dark(#1c1c1a, #e9eaec);
  --edge: light-dark(#8b8a84, #737a86);
  --quiet: light-dark(#61605b, #a4a9b3);
  --link: light-dark(#1d4fc4, #8db4ff);
  --good: light-dark(#12753f, #5fd08f);
  --bad: light-dark(#b3211a, #ff8f85);
  --warn: light-dark(#8a5a00, #e8b04b);
  --code: light-dark(#f1f1ed, #282c34);
  --small: 0.8125rem;
  --gap: 0.875rem;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 0.875rem/1.45 system-ui, 'Liberation Sans', sans-serif; }
h1, h2, h3, p, ul, ol { margin: 0; }
h1 { font-size: 1.25rem; }
h2 { font-size: var(--small); color: var(--quiet); margin-bottom: 0.625rem; }
h3 { font-size: 0.875rem; }
a { color: var(--link); }
code, pre, textarea { font: var(--small)/1.45 ui-monospace, 'DejaVu Sans Mono', monospace; }
code { background: var(--code); border-radius: 3px; padding: 0.05rem 0.25rem; overflow-wrap: anywhere; }
a code { background: none; padding: 0; }
pre { background: var(--code); border-radius: 6px; margin: 0; padding: 0.75rem; overflow: auto; max-height: 32rem; }
:focus-visible, input:focus-within { outline: 2px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
button, input, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.375rem 0.625rem; max-width: 100%; }
textarea { font: var(--small)/1.45 ui-monospace, 'DejaVu Sans Mono', monospace; width: 100%; resize: vertical; }
button { cursor: pointer; }
button:disabled, button[aria-disabled='true'] { opacity: 0.6; cursor: default; }
button.primary { background: var(--link); border-color: var(--link); color: light-dark(#fff, #10131a); font-weight: 600; }
button.danger { color: var(--bad); border-color: var(--bad); }
button.plain { border: none; background: none; color: var(--link); padding: 0.25rem; text-decoration: underline; }
.quiet { color: var(--quiet); }
.good { color: var(--good); }
.bad { color: var(--bad); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: 0.5rem; top: -4rem; background: var(--card); padding: 0.5rem; z-index: 2; }
.skip:focus { top: 0.5rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1.25rem; padding: 0.625rem 1.25rem; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { font-size: 1.125rem; font-weight: 700; color: var(--ink); text-decoration: none; }
.bar nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
.bar nav a { color: var(--quiet); text-decoration: none; padding: 0.25rem 0; border-bottom: 2px solid transparent; }
.bar nav a:hover { color: var(--ink); }
.bar nav a[aria-current] { color: var(--ink); border-color: var(--link); }
.status { margin-left: auto; display: flex; align-items: center; gap: 0.875rem; color: var(--quiet); font-size: var(--small); }
.light::before { content: ''; display: inline-block; width: 0.625rem; height: 0.625rem; border-radius: 50%; background: var(--warn); margin-right: 0.375rem; }
.light.live { color: var(--good); }
.light.live::before { background: var(--good); }
.light.lost { color: var(--bad); }
.light.lost::before { background: var(--bad); }
#content { padding: 1rem 1.25rem 2rem; max-width: 90rem; margin: 0 auto; display: grid; gap: var(--gap); grid-template-columns: minmax(0, 1fr); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.875rem 1rem; min-width: 0; }
.empty { color: var(--quiet); }
.sentence { border-left: 4px solid var(--good); font-size: 0.9375rem; display: grid; gap: 0.75rem; }
.sentence.degraded { border-left-color: var(--warn); }
.sentence.outage { border-left-color: var(--bad); }
.sentence.outage strong { color: var(--bad); }
.sentence.degraded strong { color: var(--warn); }
.warning { display: grid; gap: 0.25rem; }
.pipeline { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.75rem 2rem; }
.stage { flex: 1 1 11rem; border: 1px solid var(--line); border-radius: 8px; padding: 0.625rem 0.75rem; position: relative; }
.stage.wrong { border-color: var(--bad); }
.stage + .stage::before { content: '→'; position: absolute; left: -1.5rem; top: 40%; color: var(--quiet); }
.plots { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); }
.canvas { min-height: 130px; overflow: hidden; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: var(--small); color: var(--quiet); }
.legend li::before { content: ''; display: inline-block; width: 0.625rem; height: 0.625rem; margin-right: 0.375rem; background: currentColor; }
.legend li { color: var(--ink); }
.legend .more::before { display: none; }
.legend .line-a::before, i.line-a { color: var(--link); }
.legend .line-b::before, i.line-b { color: var(--warn); }
.legend .line-c::before, i.line-c { color: var(--bad); }
i.axis { color: var(--quiet); }
i.grid { color: var(--line); }
.legend b { font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; position: relative; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.375rem 0.75rem 0.375rem 0; vertical-align: top; white-space: nowrap; }
th { color: var(--quiet); font-weight: 400; }
tbody tr { border-top: 1px solid var(--line); }
.number { text-align: right; padding-right: 1.25rem; }
.badge { border: 1px solid currentColor; border-radius: 999px; padding: 0 0.5rem; font-size: var(--small); color: var(--good); }
.badge.draft { color: var(--quiet); }
.badge.modified { color: var(--warn); }
.links { margin: 0.5rem 0 0.75rem; padding-left: 1.25rem; }
.sign-in { min-height: 100vh; display: grid; place-items: center; padding: 1rem; }
.sign-in form { display: grid; gap: 0.625rem; width: min(26rem, 100%); padding: 1.5rem; }
fieldset { border: none; padding: 0; margin: 0; min-width: 0; }
summary { cursor: pointer; color: var(--link); padding: 0.25rem 0; }
figure { margin: 0.5rem 0; }
figcaption { color: var(--quiet); font-size: var(--small); }
.row { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0.5rem 0; }
.row label { display: flex; gap: 0.375rem; align-items: center; max-width: 100%; }
.row select, .row input { min-width: 0; }
.request { display: grid; gap: 0.5rem; }
.request .row { margin: 0; }
.answer { display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); }
.answer h2 { margin: 0.5rem 0 0; }
.headers { margin: 0; display: grid; gap: 0.125rem; font-size: var(--small); }
.headers div { display: flex; flex-wrap: wrap; gap: 0 0.75rem; }
.headers dt { color: var(--quiet); min-width: 9rem; }
.headers dd { margin: 0; overflow-wrap: anywhere; }
.columns { display: grid; gap: var(--gap); grid-template-columns: 13rem minmax(0, 1fr); align-items: start; }
.types ul { list-style: none; padding: 0; }
.types li { display: flex; justify-content: space-between; gap: 0.5rem; padding: 0.25rem 0; }
.types a[aria-current] { color: var(--ink); font-weight: 600; }
.main { display: grid; gap: var(--gap); grid-template-columns: minmax(0, 1fr); }
th button.plain { color: var(--quiet); padding: 0; text-decoration: none; }
th[aria-sort] button.plain { color: var(--ink); }
.condition { border-left: 3px solid var(--line); padding-left: 0.75rem; }
.filter input[aria-label^='URL'] { flex: 1 1 16rem; }
.entry { display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr); }
.entry .badge { font-size: var(--small); font-weight: 400; vertical-align: middle; }
.values td, .values th { white-space: normal; min-width: 8rem; }
.values th .badge { display: block; width: fit-content; margin-top: 0.25rem; }
.values .other td { background: light-dark(#fdf6e3, #2e2818); }
.values .links { margin: 0; padding-left: 1rem; }
.button { border: 1px solid var(--line); border-radius: 6px; padding: 0.375rem 0.625rem; color: inherit; text-decoration: none; }
.spread { justify-content: space-between; margin: 0; }
.tabs { display: flex; gap: 1rem; border-bottom: 1px solid var(--line); }
.tabs a { color: var(--quiet); text-decoration: none; padding: 0.25rem 0; border-bottom: 2px solid transparent; }
.tabs a[aria-current] { color: var(--ink); border-color: var(--link); }
.form { display: grid; gap: 0.875rem; grid-template-columns: minmax(0, 46rem); }
.field { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); }
.field > div > label, .field > label, legend { font-weight: 600; }
.field.group { border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.75rem 0.75rem; gap: 0.5rem; }
.field.group legend { padding: 0 0.25rem; }
.field .row { margin: 0; }
.field .row > input { flex: 1 1 12rem; }
.hint { color: var(--quiet); font-size: var(--small); font-weight: 400; }
[aria-invalid='true'] { border-color: var(--bad); }
input, select, textarea { border-color: var(--edge); }
.save { position: sticky; top: 0; z-index: 1; background: var(--card); padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
.notice { border: 1px solid var(--line); border-left-width: 4px; border-radius: 8px; padding: 0.625rem 0.75rem; }
.notice.warn { border-left-color: var(--warn); }
.notice.wrong { border-left-color: var(--bad); }
.part { border-left: 3px solid var(--line); padding-left: 0.75rem; display: grid; gap: 0.5rem; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); }
.part > .row, .part > .group, .part > textarea, .part > .picture, .part > .field:has(textarea) { grid-column: 1 / -1; }
.form textarea { field-sizing: content; min-height: 4rem; max-height: 40rem; }
.moves { white-space: nowrap; }
.linked, .found { list-style: none; padding: 0; display: grid; gap: 0.125rem; grid-template-columns: minmax(0, 1fr); }
.linked li { display: flex; justify-content: space-between; gap: 0.5rem; align-items: center; overflow-wrap: anywhere; }
.search { position: relative; }
.search input { width: 100%; }
.search .found { border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 0.5rem; margin-top: 0.25rem; }
.found button { text-align: left; overflow-wrap: anywhere; }
.picture { display: inline-flex; gap: 0.5rem; align-items: center; overflow-wrap: anywhere; }
.picture img { max-height: 6rem; object-fit: contain; background: var(--code); }
dialog form, dialog > .field { display: grid; gap: 0.5rem; }
.past.old { border-left: 4px solid var(--warn); }
.past p { margin: 0; flex: 1; }
.past .spread { flex-wrap: nowrap; }
.past .spread button { white-space: nowrap; }
.slider input { flex: 1 1 12rem; padding: 0; }
.versions .names { white-space: normal; min-width: 8rem; }
.diff { border-top: 1px solid var(--line); padding-top: 0.75rem; }
.diff dl { margin: 0; display: grid; gap: 0.625rem; grid-template-columns: minmax(0, 1fr); }
.diff dd { margin: 0.25rem 0 0; }
.members { list-style: none; padding: 0; }
mark { background: light-dark(#fff0b3, #5c4a12); color: inherit; }
.matches { list-style: none; padding: 0; font-size: var(--small); white-space: normal; max-width: 32rem; }
.facet-lists { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fill, minmax(min(12rem, 100%), 1fr)); }
.facet-lists ul { list-style: none; padding: 0; }
.facet-lists li { display: flex; justify-content: space-between; gap: 0.5rem; align-items: center; }
.facet-lists button { text-align: left; overflow-wrap: anywhere; }
.prose { display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); }
.prose ul, .prose ol { padding-left: 1.5rem; }
.prose blockquote { margin: 0; border-left: 3px solid var(--line); padding-left: 0.75rem; }
.prose .heading { font-weight: 700; }
.prose .level-1, .prose .level-2 { font-size: 1.0625rem; }
ins { background: light-dark(#d7f2e0, #173b27); text-decoration: none; }
del { background: light-dark(#fbdcd9, #4a211e); }
.whole { white-space: pre-wrap; overflow-wrap: anywhere; }
dialog { width: min(34rem, calc(100vw - 2rem)); color: inherit; }
dialog::backdrop { background: rgb(0 0 0 / 0.5); }
.confirm, .outcome, .progress { display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); }
.outcome { margin-top: 0.5rem; }
.outcome .good, .outcome .bad { overflow-wrap: anywhere; }
input.wide-field { width: 100%; font: var(--small)/1.45 ui-monospace, 'DejaVu Sans Mono', monospace; }
.secret { border: 1px solid var(--warn); border-radius: 8px; padding: 0.75rem; margin: 0.5rem 0; display: grid; gap: 0.5rem; }
.fields { display: grid; gap: 0.5rem; }
.fields label { display: flex; flex-wrap: wrap; gap: 0.375rem; align-items: center; }
.matrix td, .matrix thead th { text-align: center; }
.matrix th:first-child { text-align: left; color: var(--ink); }
progress { width: 100%; accent-color: var(--link); }
td.wrap { white-space: normal; min-width: 14rem; overflow-wrap: anywhere; }
td .row { margin: 0; flex-wrap: nowrap; }
.card h3 { margin: 0.75rem 0 0.25rem; }
.row.month { margin: 0.5rem 0; }
.calendar { table-layout: fixed; min-width: 44rem; }
.calendar td { border: 1px solid var(--line); padding: 0.25rem 0.375rem; height: 5rem; white-space: normal; overflow-wrap: anywhere; }
.calendar ul { list-style: none; padding: 0; font-size: var(--small); }
.add-entries .found { margin-top: 0.5rem; }
@media (max-width: 48rem) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  .types ul { columns: 2; }
  #content { padding: 0.75rem; }
  .bar { padding: 0.5rem 0.75rem; }
  .status .wide { display: none; }
  .stage { flex-basis: 100%; }
  .stage + .stage::before { left: 50%; top: -1.1rem; rotate: 90deg; }
}
`;

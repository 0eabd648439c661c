import { formatMoment, formatTime } from './format.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './route.ts';
import type { StateWarning } from './server.ts';

/** Parts of the page in which somebody acts on a condition. */
const PARTS: Readonly<Partial<Record<StateWarning['code'], readonly [part: string, title: string]>>> = {
  'documents-parked': ['projections', 'Projections'],
  'index-behind': ['projections', 'Projections'],
  'rebuild-failed': ['projections', 'Projections'],
  'rebuild-stalled': ['projections', 'Projections'],
  'deliveries-parked': ['delivery', 'Delivery'],
  'purges-waiting': ['delivery', 'Delivery'],
  'releases-failed': ['releases', 'Releases'],
};

/** Shows a condition: since when, its meaning, the advice and the rows of the runbook. The words are those of `varve status`. */
export function Warning({ condition }: { readonly condition: StateWarning }) {
  const { code, message, since, readers, writers, advice, processes, runbook } = condition;
  const [part, title] = PARTS[code] ?? [];
  return html`<div class="warning">
    <p><strong>${capital(message)}</strong>${' '}since <time datetime=${since} title=${formatMoment(since)}>${formatTime(since)}</time>.${' '}
      <code>${code}</code></p>
    <p>${readers} ${writers}</p>
    <p><b>What to do:</b> ${advice}${part !== undefined && html` <a href=${linkTo([part])}>Open ${title}</a>`}</p>
    ${runbook.map(({ what, text }) => html`<p key=${what} class="runbook"><b>Runbook, ${inlineMarkdown(what)}:</b> ${inlineMarkdown(text)}</p>`)}
    <p class="quiet">Found by ${processes.join(', ')}.</p>
  </div>`;
}

/** Shows code as code. The server does not serve its documentation, so a link becomes the name of its file. */
function inlineMarkdown(text: string): readonly Content[] {
  return text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`;
    const [, label, target = ''] = /^\[(.+)\]\((.+)\)$/.exec(piece) ?? [];
    if (label === undefined) return piece;
    return `${label}: docs/${target.startsWith('#') ? 'runbook.md' : ''}${target}`;
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

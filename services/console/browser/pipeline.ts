import { formatBytes, formatCount, formatSeconds } from './format.ts';
import { type Content, html } from './html.ts';
import type { Projection, ServerState } from './server.ts';

type Stage = {
  readonly title: string;
  readonly what: Content;
  readonly state: Content;
  readonly isBad: boolean;
};

/** The way of a write to its readers: each stage with its position and its lag. */
export function Pipeline({ now }: { readonly now: ServerState }) {
  const stages = stagesOf(now);
  return html`<section class="card">
    <h2>From a write to a reader</h2>
    <ol class="pipeline">
      ${stages.map(
        ({ title, what, state, isBad }) => html`<li class=${isBad ? 'stage wrong' : 'stage'}>
          <h3>${title}</h3>
          <p>${what}</p>
          <p class=${isBad ? 'bad' : 'good'}>${state}</p>
        </li>`,
      )}
    </ol>
  </section>`;
}

function stagesOf(now: ServerState): readonly Stage[] {
  const { log, projections = [], processes, readIndex, purges, webhooks } = now;
  const position = log?.position ?? processes.find(({ epoch }) => epoch !== null)?.position;
  return [
    {
      title: 'Log',
      what: `position ${formatCount(position)}`,
      state: logState(log),
      isBad: (log?.foreignEvents ?? 0) > 0,
    },
    ...projections.map(stageOf),
    ...(projections.length === 0 && readIndex !== null ? [stageOfIndex(readIndex)] : []),
    ...(purges ?? []).map(({ receiver, count }) => ({
      title: 'Caches',
      what: receiver,
      state: count === 0 ? 'no purge waits' : `${formatCount(count)} changes wait`,
      isBad: count > 0,
    })),
    ...(webhooks === null ? [] : [stageOfWebhooks(webhooks)]),
  ];
}

function logState(log: ServerState['log']): string {
  if (log === undefined) return 'read by this process';
  if (log.foreignEvents > 0) return `${formatCount(log.foreignEvents)} events of other programs skipped`;
  return log.head === null ? 'no hash chain' : `chain ${log.head.chain.slice(0, 12)}…`;
}

function stageOf({
  name,
  kind,
  position,
  lagEvents,
  lagSeconds,
  backlog,
  backlogSeconds,
  parked,
  documents,
  bytes,
}: Projection): Stage {
  const wrong = [
    lagEvents > 0 ? `${formatCount(lagEvents)} events behind, ${formatSeconds(lagSeconds)}` : '',
    backlog > 0 ? `${formatCount(backlog)} documents wait, ${formatSeconds(backlogSeconds)}` : '',
    parked > 0 ? `${formatCount(parked)} parked` : '',
  ].filter((text) => text !== '');
  const size = [
    documents === null ? 'does not answer' : `${formatCount(documents)} rows`,
    ...(bytes === null ? [] : [formatBytes(bytes)]),
  ];
  return {
    title: name === 'content graph' ? 'Content graph' : `Read index (${kind})`,
    what: html`position ${formatCount(position)}<br />${size.join(', ')}`,
    state: wrong.length === 0 ? 'no lag' : wrong.join('; '),
    isBad: wrong.length > 0 || documents === null,
  };
}

function stageOfIndex(index: NonNullable<ServerState['readIndex']>): Stage {
  const { address, status } = index;
  return {
    title: 'Elasticsearch',
    what: address,
    state: 'reason' in index ? index.reason : status,
    isBad: status === 'unreachable' || status === 'red',
  };
}

function stageOfWebhooks({ waiting, parked }: NonNullable<ServerState['webhooks']>): Stage {
  return {
    title: 'Webhooks',
    what: `${formatCount(waiting)} deliveries wait`,
    state: parked === 0 ? 'none parked' : `${formatCount(parked)} parked`,
    isBad: parked > 0,
  };
}

import { formatCount, formatMoment, formatTime, shorten } from './format.ts';
import { html } from './html.ts';
import { linkTo, route } from './route.ts';
import type { LogEvent } from './server.ts';
import { types } from './session.ts';

/** Events of the log, the newest first. */
export function EventTable({ events }: { readonly events: readonly LogEvent[] }) {
  if (events.length === 0)
    return html`<p class="empty">The log has no such event. Write an entry, and it appears here.</p>`;
  return html`<div class="scroll" role="region" aria-label="Events" tabindex="0">
    <table class="events">
      <thead><tr><th class="number">position</th><th>time</th><th>event</th><th>type</th><th>document</th><th>changed</th><th>by</th></tr></thead>
      <tbody>${events.map((event) => html`<${EventRow} key=${event.position} event=${event} />`)}</tbody>
    </table>
  </div>`;
}

function EventRow({ event }: { readonly event: LogEvent }) {
  const { position, at, type, stream, entry, changed, unreadable } = event;
  return html`<tr>
    <td class="number"><a href=${linkTo(['log', position], route.value.part === 'log' ? Object.fromEntries(route.value.query) : {})}>${formatCount(position)}</a></td>
    <td class="quiet">${at !== null && html`<time datetime=${at} title=${formatMoment(at)}>${formatTime(at)}</time>`}</td>
    <td>${type}${unreadable !== null && html`${' '}<span class="bad" title=${unreadable}>unreadable</span>`}</td>
    <td>${entry === null ? '' : nameOf(entry.type)}</td>
    <td><${Subject} event=${event} /></td>
    <td class="quiet">${entry === null ? shorten(stream, 40) : shorten((changed ?? []).join(', '), 40)}</td>
    <td class="quiet">${authorOf(event)}</td>
  </tr>`;
}

function Subject({ event: { entry } }: { readonly event: LogEvent }) {
  if (entry === null) return null;
  const { type, documentId, locale } = entry;
  const label = `${documentId}${locale === null ? '' : ` · ${locale}`}`;
  const found = types.value.find(({ uid }) => uid === type);
  if (found === undefined || found.plugin !== undefined) return html`<code>${label}</code>`;
  const link = linkTo(['content', found.schema.pluralName, documentId], { locale: locale ?? undefined });
  return html`<a href=${link}><code>${label}</code></a>`;
}

function nameOf(uid: string): string {
  return types.value.find((type) => type.uid === uid)?.schema.displayName ?? uid;
}

/** Returns who caused an event. */
export function authorOf({ actor, via }: Pick<LogEvent, 'actor' | 'via'>): string {
  const { kind = '', name, id }: { kind?: string; name?: string; id?: string } = actor ?? {};
  const who = [kind, name ?? id].filter(Boolean).join(' ');
  return shorten([who, via === null ? '' : `(${via})`].filter((text) => text !== '').join(' '), 40);
}

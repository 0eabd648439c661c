import { formatCount } from './format.ts';
import { html } from './html.ts';

/** Something that a comparison found. Which members it has depends on what was compared. */
export type ListedDifference = {
  readonly kind?: string;
  readonly group?: string;
  readonly name?: string;
  readonly type?: string;
  readonly documentId?: string;
  readonly locale?: string | null;
  readonly world?: string;
  readonly stream?: string;
  readonly position?: string;
  readonly reason?: string;
  readonly hash?: string;
  readonly differing?: string | readonly string[];
  readonly repaired?: boolean;
};

/** Differences that are shown at once. */
const MOST_SHOWN = 500;

/** A table of differences. It has no values, because these may be private. */
export function Differences({
  found,
  label,
}: {
  readonly found: readonly ListedDifference[];
  readonly label: string;
}) {
  if (found.length === 0) return null;
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
      <table class="differences">
        <thead><tr><th>where</th><th>what</th><th>difference</th></tr></thead>
        <tbody>${found.slice(0, MOST_SHOWN).map((each) => html`<tr><td>${placeOf(each)}</td><td><code>${nameOf(each)}</code></td><td>${problemOf(each)}</td></tr>`)}</tbody>
      </table>
    </div>
    ${found.length > MOST_SHOWN && html`<p class="quiet">${formatCount(found.length - MOST_SHOWN)} more are not shown: the request lists them.</p>`}`;
}

function placeOf({ kind, group, world, type }: ListedDifference): string {
  return [kind, group ?? type, world].filter((part) => part !== undefined).join(' · ');
}

function nameOf({ name, documentId, locale, position, stream, hash }: ListedDifference): string {
  const named = position === undefined ? name : `position ${position}, ${stream}`;
  return [documentId, named, locale ?? undefined, hash].filter((part) => part !== undefined).join(' ');
}

function problemOf({ differing, reason, repaired }: ListedDifference): string {
  const what = typeof differing === 'string' ? differing : (differing ?? []).join(', ');
  return `${reason ?? what}${repaired === true ? ' (repaired)' : ''}`;
}

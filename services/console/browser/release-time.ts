import { useId } from 'preact/hooks';
import { html } from './html.ts';
import { shellWord } from './send-lines.ts';

/** A local time in a time zone, as a form has it; `at` empty: no time. */
export type ReleaseTime = { readonly at: string; readonly timezone: string };

/** Time zone of the browser. */
const HERE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export const NO_TIME: ReleaseTime = { at: '', timezone: HERE };

/** Returns the members of a release that have its time. */
export function timeData({ at, timezone }: ReleaseTime): object {
  return at === '' ? { scheduledAt: null } : { scheduledAt: at, timezone };
}

/** Returns the options of a command that have the time. */
export function timeCommand({ at, timezone }: ReleaseTime): string {
  return at === '' ? '' : ` --at ${at} --timezone ${shellWord(timezone)}`;
}

/** Returns an instant as a local time of a time zone, for a form. */
export function localTime(instant: string, timezone: string | null): ReleaseTime {
  const zone = timezone?.slice(timezone.lastIndexOf('&') + 1) ?? HERE;
  try {
    // This locale writes dates as fields of forms do.
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    return { at: format.format(new Date(instant)).replace(' ', 'T'), timezone: zone };
  } catch {
    return NO_TIME;
  }
}

type FieldsProps = { readonly time: ReleaseTime; readonly change: (time: ReleaseTime) => void };

/** Fields for a time and its zone. */
export function TimeFields({ time, change }: FieldsProps) {
  const id = useId();
  return html`<label>time <input type="datetime-local" name="release-at" value=${time.at} onInput=${(event: Event) => change({ ...time, at: (event.target as HTMLInputElement).value })} /></label>
    <label>in <input name="release-zone" size="18" list=${id} value=${time.timezone} onInput=${(event: Event) => change({ ...time, timezone: (event.target as HTMLInputElement).value })} /></label>
    <datalist id=${id}>${Intl.supportedValuesOf('timeZone').map((zone) => html`<option key=${zone} value=${zone}></option>`)}</datalist>`;
}

import type { Meta } from './api.ts';
import { formatCount } from './format.ts';
import { html } from './html.ts';
import { change } from './route.ts';

type PagerProps = {
  readonly meta: Meta;
  /** Texts of the buttons to the page before and after. */
  readonly before: string;
  readonly after: string;
};

/** Buttons to the page before and after, if there are several pages. The URL has the page. */
export function Pager({ meta, before, after }: PagerProps) {
  const { page = 1, pageCount = 1 } = meta.pagination ?? {};
  if (pageCount <= 1) return null;
  const go = (to: number) => change({ page: to === 1 ? undefined : String(to) });
  return html`<p class="row"><button type="button" disabled=${page <= 1} onClick=${() => go(page - 1)}>${before}</button>
    page ${formatCount(page)} of ${formatCount(pageCount)}
    <button type="button" disabled=${page >= pageCount} onClick=${() => go(page + 1)}>${after}</button></p>`;
}

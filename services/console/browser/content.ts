import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { read } from './api.ts';
import { ContentList } from './content-list.ts';
import { contentTypes, pathName, readModel, typeAt } from './content-model.ts';
import { DeletedList } from './deleted-list.ts';
import { EntryPage } from './entry-page.ts';
import { formatCount, UNKNOWN } from './format.ts';
import { html } from './html.ts';
import { PastControl } from './past.ts';
import { asOf, linkTo, route } from './route.ts';
import type { Type } from './server.ts';
import { TypeAttributes, TypeOverview } from './type-table.ts';
import { useAsked } from './use-answer.ts';

/** The content: types with their counts, the entries of one, or one entry. */
export function ContentPart() {
  const { found: model, problem } = useAsked('model', readModel);
  const [name, ...rest] = route.value.rest;
  if (problem !== null) return html`<p class="card bad" role="alert">${problem}</p>`;
  if (model === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  if (contentTypes().length === 0)
    return html`<section class="card empty"><h1>No content types</h1>
      <p>The server has no content types that you may read. Start it with <code>--content-types</code> and the src folder of a Strapi project.</p></section>`;
  return html`<div class="columns">
    <nav class="card types" aria-label="Content types"><${TypeList} chosen=${name} /></nav>
    <div class="main"><${PastControl} /><${Chosen} name=${name} rest=${rest} /></div>
  </div>`;
}

function Chosen({ name, rest }: { readonly name: string | undefined; readonly rest: readonly string[] }) {
  const type = name === undefined ? undefined : typeAt(name);
  if (name === undefined) return html`<${TypeOverview} />`;
  if (type === undefined)
    return html`<section class="card empty"><h1>There is no such content type</h1><p><code>${name}</code> names no type that you may read.</p></section>`;
  const isSingle = type.schema.kind === 'singleType';
  const [first] = rest;
  if (first === '_type') return html`<${TypeAttributes} type=${type} />`;
  if (first === undefined && !isSingle)
    return html`<${ContentList} key=${`${type.uid} ${asOf()}`} type=${type} />`;
  if (first === '_deleted' && !isSingle) return html`<${DeletedList} key=${type.uid} type=${type} />`;
  if (first === '_new' && !isSingle) return html`<${EntryPage} key=${type.uid} type=${type} mode="edit" />`;
  const documentId = isSingle ? undefined : first;
  const mode = (isSingle ? first : rest[1]) ?? 'values';
  return html`<${EntryPage} key=${`${type.uid} ${asOf()}`} type=${type} documentId=${documentId} mode=${mode} />`;
}

function TypeList({ chosen }: { readonly chosen: string | undefined }) {
  return html`<h2>Types</h2><ul>
    ${contentTypes().map((type) => html`<${TypeItem} key=${type.uid} type=${type} isChosen=${pathName(type) === chosen} />`)}
  </ul>`;
}

function TypeItem({ type, isChosen }: { readonly type: Type; readonly isChosen: boolean }) {
  const [total, setTotal] = useState<number>();
  const item = useRef<HTMLLIElement>(null);
  const isSeen = useSeen(item);
  const { kind, displayName, draftAndPublish } = type.schema;
  useEffect(() => {
    if (kind === 'singleType' || !isSeen) return;
    const past = asOf();
    const moment = past === undefined ? '' : `&asOf=${encodeURIComponent(past)}`;
    const status = draftAndPublish ? '&status=draft' : '';
    // A caller without the right to see drafts gets the count of what is published. Without any, there is no count.
    // A browser sends six requests at once: what somebody opens meanwhile does not wait for counts.
    const count = (query: string) =>
      read<unknown>(`/api/${pathName(type)}?pagination[pageSize]=1${query}${moment}`, undefined, 'low');
    count(status)
      .catch(() => count(''))
      .then(
        ({ meta }) => setTotal(meta.pagination?.total),
        () => {},
      );
  }, [type.uid, asOf(), isSeen]);
  return html`<li ref=${item}><a href=${linkTo(['content', pathName(type)])} aria-current=${isChosen ? 'page' : undefined}>${displayName}</a>
    <span class="quiet">${kind === 'singleType' ? 'single' : total === undefined ? UNKNOWN : formatCount(total)}</span></li>`;
}

/** Returns whether an element has been on the screen. A site may have hundreds of types, and each count is a request. */
function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}

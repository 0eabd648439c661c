import { useEffect, useState } from 'preact/hooks';
import { read } from './api.ts';
import { componentNamed, contentTypes, pathName, titleName, titleOf } from './content-model.ts';
import type { EntryPlace, Row } from './entry-request.ts';
import type { Attributes } from './form-values.ts';
import { formatCount, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { asOf, linkTo } from './route.ts';
import type { Type } from './server.ts';

const SHOWN = 5;
/** Attributes that are asked for one entry. */
const MOST = 60;
const MOST_LEVELS = 4;

type Source = { readonly type: Type; readonly path: readonly string[] };

/** Entries that link an entry, by content type and attribute. They are read when the list is opened. */
export function LinkingEntries({ place }: { readonly place: EntryPlace }) {
  const [isOpen, setOpen] = useState(false);
  const sources = contentTypes()
    .flatMap((type) => pathsTo(place.type.uid, type.schema.attributes).map((path) => ({ type, path })))
    .slice(0, MOST);
  if (place.documentId === undefined || sources.length === 0) return null;
  return html`<details class="linking" onToggle=${(event: Event) => setOpen((event.target as HTMLDetailsElement).open)}>
    <summary>Who links here</summary>
    ${isOpen && html`<ul class="links">${sources.map((source) => html`<${Links} key=${`${source.type.uid} ${source.path}`} source=${source} documentId=${place.documentId} />`)}</ul>`}
  </details>`;
}

/** Returns the paths of relations that lead to a type, through components. The two sides of a relation are in both entries already. */
function pathsTo(target: string, attributes: Attributes, level = 0): readonly (readonly string[])[] {
  if (level > MOST_LEVELS) return [];
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    if (attribute.isHidden) return [];
    if (attribute.type === 'relation') return attribute.target === target ? [[name]] : [];
    if (attribute.type !== 'component') return [];
    return pathsTo(target, componentNamed(attribute.component ?? ''), level + 1).map((path) => [
      name,
      ...path,
    ]);
  });
}

type LinksProps = { readonly source: Source; readonly documentId: string | undefined };

function Links({ source: { type, path }, documentId }: LinksProps) {
  const [found, setFound] = useState<{ readonly rows: readonly Row[]; readonly total: number }>();
  const name = titleName(type);
  const [past, filter] = [asOf(), `filters[${path.join('][')}][documentId][$eq]=${documentId}`];
  const request = `/api/${pathName(type)}?${[
    filter,
    ...(name === undefined ? [] : [`fields[0]=${name}`]),
    ...(type.schema.draftAndPublish ? ['status=draft'] : []),
    `pagination[pageSize]=${SHOWN}`,
    ...(past === undefined ? [] : [`asOf=${encodeURIComponent(past)}`]),
  ].join('&')}`;
  useEffect(() => {
    const gone = new AbortController();
    // A caller who may not see drafts gets what is published.
    read<readonly Row[]>(request, gone.signal)
      .catch(() => read<readonly Row[]>(request.replace('&status=draft', ''), gone.signal))
      .then(
        ({ data, meta }) => setFound({ rows: data, total: meta.pagination?.total ?? data.length }),
        () => {},
      );
    return () => gone.abort();
  }, [request]);
  if (found === undefined || found.total === 0) return null;
  return html`<li>${type.schema.displayName} <code>${path.join('.')}</code> <a href=${linkTo(['content', pathName(type)], { filter })}>${formatCount(found.total)}</a>:${' '}
    ${found.rows.map((row, i) => html`${i > 0 && ', '}<a href=${linkTo(['content', pathName(type), String(row['documentId'])])}>${shorten(titleOf(type, row), 40)}</a>`)}
    <${HowToSend} what="find them" request=${{ method: 'GET', path: request }} /></li>`;
}

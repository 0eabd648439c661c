import { useEffect, useState } from 'preact/hooks';
import { read } from './api.ts';
import { formatCount, UNKNOWN } from './format.ts';
import { html } from './html.ts';
import { linkTo } from './route.ts';
import type { Type } from './server.ts';
import { types } from './session.ts';

/** Types that the page counts. The part *Content* has all of them. */
const COUNTED = 30;

type Row = {
  readonly type: Type;
  readonly path: string;
  readonly total: number | undefined;
  readonly example: string;
};

/** Shows a new user development mode, the pages, the content types with their counts, and an example of a query. */
export function Welcome() {
  const [rows, setRows] = useState<readonly Row[]>([]);
  useEffect(() => {
    let isWanted = true;
    // Without the counts the links are still there.
    readRows().then(
      (found) => isWanted && setRows(found),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [types.value]);
  const most = rows.toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0))[0];
  const search = document.querySelector<HTMLMetaElement>('meta[name="varve-search"]')?.content;
  return html`<section class="card">
    <h2>Begin here</h2>
    <p>This server is in development mode: there are no access tokens, and everyone on this machine may read and change everything.</p>
    <ul class="links">
      ${search !== undefined && html`<li><a href=${search}>Search page</a>: InstantSearch on this content</li>`}
      <li><a href="/docs">API documentation</a>: every endpoint, to try</li>
      <li><a href="/openapi.json">OpenAPI document</a></li>
    </ul>
    <h3>An example query</h3>
    <p id="example">${(most?.total ?? 0) === 0 ? 'There is no content yet.' : html`<a href=${encodeURI(most?.example ?? '')}>${most?.example}</a>`}</p>
    <h3>Content types</h3>
    <div class="scroll" role="region" aria-label="Content types" tabindex="0">
      <table id="types">
        <thead><tr><th>type</th><th class="number">entries</th><th>endpoint</th></tr></thead>
        <tbody>
          ${rows.map(
            ({ type, path, total }) => html`<tr key=${type.uid}>
              <td><a href=${linkTo(['content', type.schema.pluralName])}>${type.schema.displayName}</a></td>
              <td class="number count">${total === undefined ? UNKNOWN : formatCount(total)}</td>
              <td><a href=${path}>${path}</a></td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${ownTypes().length > COUNTED && html`<p><a href=${linkTo(['content'])}>All ${formatCount(ownTypes().length)} content types</a></p>`}
  </section>`;
}

/** Users and files have endpoints of their own. */
function ownTypes(): readonly Type[] {
  return types.value.filter(({ plugin }) => plugin === undefined);
}

function readRows(): Promise<readonly Row[]> {
  return Promise.all(ownTypes().slice(0, COUNTED).map(readRow));
}

async function readRow(type: Type): Promise<Row> {
  const { kind, singularName, pluralName } = type.schema;
  if (kind === 'singleType') return { type, path: `/api/${singularName}`, total: undefined, example: '' };
  const path = `/api/${pluralName}`;
  const { data, meta } = await read<readonly Record<string, unknown>[]>(`${path}?pagination[pageSize]=1`);
  return { type, path, total: meta.pagination?.total, example: exampleOf(path, type, data[0] ?? {}) };
}

function exampleOf(path: string, { schema }: Type, entry: Readonly<Record<string, unknown>>): string {
  const name = Object.keys(schema.attributes).find(
    (each) => schema.attributes[each]?.type === 'string' && typeof entry[each] === 'string',
  );
  if (name === undefined) return `${path}?populate=*`;
  const [word = ''] = String(entry[name]).split(/[^\p{L}\p{N}]+/u);
  return `${path}?filters[${name}][$contains]=${word}&populate=*`;
}

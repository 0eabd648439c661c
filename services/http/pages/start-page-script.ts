/** Types of the browser objects that the script uses. The script runs in a browser, and is type-checked here. */
type Element = {
  textContent: string | null;
  className: string;
  replaceChildren(...children: (Element | string)[]): void;
  append(...children: (Element | string)[]): void;
  setAttribute(name: string, value: string): void;
};
type Page = {
  createElement(name: string): Element;
  getElementById(id: string): Element | null;
};
type Fetch = (url: string) => Promise<{ readonly ok: boolean; json(): Promise<unknown> }>;
type Described = {
  readonly uid: string;
  readonly schema: {
    readonly displayName: string;
    readonly singularName: string;
    readonly pluralName: string;
    readonly kind: string;
    readonly attributes: Readonly<Record<string, { readonly type: string }>>;
  };
};
type List = {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly meta: { readonly pagination: { readonly total: number } };
};

/** Fills the start page: content types with their counts, and an example of a query with results. */
export async function showContent(page: Page, get: Fetch): Promise<void> {
  const link = (url: string, text: string): Element => {
    const anchor = page.createElement('a');
    anchor.setAttribute('href', url);
    anchor.textContent = text;
    return anchor;
  };
  const cell = (child: Element | string, className = ''): Element => {
    const made = page.createElement('td');
    made.className = className;
    made.append(child);
    return made;
  };
  const exampleOf = (plural: string, attributes: Described['schema']['attributes'], list: List) => {
    const text = Object.keys(attributes).find(
      (name) => attributes[name]?.type === 'string' && typeof list.data[0]?.[name] === 'string',
    );
    const word = String(list.data[0]?.[text ?? '']).split(/[^\p{L}\p{N}]+/u)[0];
    const filter = text === undefined ? '' : `filters[${text}][$contains]=${word}&`;
    return `/api/${plural}?${filter}populate=*`;
  };
  const answer = await get('/api/content-type-builder/content-types');
  if (!answer.ok) return;
  const { data } = (await answer.json()) as { readonly data: readonly Described[] };
  let most = 0;
  for (const { uid, schema } of data) {
    // Users and files have endpoints of their own.
    if (/^plugin::(upload|users-permissions)\./.test(uid)) continue;
    const isSingle = schema.kind === 'singleType';
    const path = `/api/${isSingle ? schema.singularName : schema.pluralName}`;
    const listed = isSingle ? undefined : await get(`${path}?pagination[pageSize]=1`);
    const list = listed?.ok ? ((await listed.json()) as List) : undefined;
    const row = page.createElement('tr');
    const total = list?.meta?.pagination.total;
    const count = total === undefined ? '' : String(total);
    row.append(cell(schema.displayName), cell(count, 'count'), cell(link(path, path)));
    page.getElementById('types')?.append(row);
    if (list === undefined || total === undefined || total <= most) continue;
    most = total;
    const example = exampleOf(schema.pluralName, schema.attributes, list);
    page.getElementById('example')?.replaceChildren(link(encodeURI(example), example));
  }
}

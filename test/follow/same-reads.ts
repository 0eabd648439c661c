import { pathOf, populateWhole, queryText } from '../../services/follow/rest-query.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';

/** Returns the rows in which two servers differ. Compares every row in both versions and all locales, with everything populated. */
export async function differences(
  strapi: string,
  varve: string,
  contentTypes = CONFORMANCE_SCHEMA,
): Promise<readonly string[]> {
  const loaded = loadContentTypes(contentTypes);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const { registry } = loaded;
  const found: string[] = [];
  for (const type of registry.contentTypes.values()) {
    for (const status of type.builtIn ? [''] : ['draft', 'published']) {
      const [there = [], here = []] = await Promise.all(
        [strapi, varve].map((url) => allRows({ url, registry, type, status })),
      );
      found.push(...differing(`${type.uid} ${status}`, there, here));
    }
  }
  return found;
}

type Row = { readonly id: number };
type Answer = { readonly data?: readonly Row[] };

type Asked = {
  readonly url: string;
  readonly registry: SchemaRegistry;
  readonly type: ContentType;
  readonly status: string;
};

async function allRows(asked: Asked): Promise<readonly Row[]> {
  const { url, registry, type, status } = asked;
  if (type.kind === 'singleType') return singleRows(asked);
  const rows: Row[] = [];
  for (;;) {
    const query = queryText([
      ...(type.builtIn ? [] : populateWhole(registry, type)),
      ...(status === '' ? [] : [['status', status] as const]),
      ...(type.localized ? [['locale', '*'] as const] : []),
      ['sort', 'id'],
      ['filters[id][$gt]', String(rows.at(-1)?.id ?? 0)],
    ]);
    const page = await rowsOf(url, `/api${pathOf(type)}?${query}`);
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

/** Returns the rows of a single type. It has no list, so each locale is requested separately. */
async function singleRows({ url, registry, type, status }: Asked): Promise<readonly Row[]> {
  const locales = (await (await fetch(`${url}/api/i18n/locales`)).json()) as { readonly code: string }[];
  const rows: Row[] = [];
  for (const locale of type.localized ? locales.map(({ code }) => code) : [undefined]) {
    const query = queryText([
      ...populateWhole(registry, type),
      ['status', status],
      ...(locale === undefined ? [] : [['locale', locale] as const]),
    ]);
    const response = await fetch(`${url}/api${pathOf(type)}?${query}`);
    if (response.status !== 404) rows.push(((await response.json()) as { readonly data: Row }).data);
  }
  return rows;
}

async function rowsOf(url: string, path: string): Promise<readonly Row[]> {
  const response = await fetch(`${url}${path}`);
  const answer = (await response.json()) as Answer | readonly Row[];
  if (!response.ok) throw new Error(`${url}${path}: ${JSON.stringify(answer)}`);
  return 'data' in answer ? (answer.data ?? []) : (answer as readonly Row[]);
}

function differing(what: string, there: readonly Row[], here: readonly Row[]): readonly string[] {
  const ours = new Map(here.map((row) => [row.id, comparable(row)]));
  const theirs = new Map(there.map((row) => [row.id, comparable(row)]));
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((id) => {
    const [left, right] = [theirs.get(id), ours.get(id)];
    return left === right ? [] : [`${what} ${id}:\n  strapi ${left}\n  varve  ${right}`];
  });
}

/** Returns a text to compare a row. The order of its members does not matter. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const { isUrlSigned: _asked, ...members } = inner as Record<string, unknown>;
    return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

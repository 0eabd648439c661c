import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from './elasticsearch-node.ts';
import { spawnVarve, type VarveProcess } from './server.ts';

/** Changes of the kitchen's content types, and the answers of a server meanwhile. */
type Attributes = Record<string, { readonly [option: string]: unknown }>;

export function changeCooks(contentTypes: string, change: (attributes: Attributes) => Attributes): void {
  const file = join(contentTypes, 'cook', 'schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { attributes: Attributes };
  writeFileSync(file, JSON.stringify({ ...schema, attributes: change(schema.attributes) }));
}

/** Renames the cooks' attribute `name` to `fullName`. */
export function renameCooks(contentTypes: string): void {
  changeCooks(contentTypes, ({ name, ...others }) => ({
    fullName: { ...name, pluginOptions: { varve: { renamedFrom: 'name' } } },
    ...others,
  }));
}

export function postCook(url: string, values: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/api/cooks`, { method: 'POST', headers, body: JSON.stringify({ data: values }) });
}

export type Got = {
  readonly status: number;
  readonly body: { readonly data: Record<string, unknown>[] } & Record<string, unknown>;
};

/** Sends a GET. Status 0: no server listens. */
export async function get(url: string): Promise<Got> {
  const answer = await fetch(url).catch(() => undefined);
  if (answer === undefined) return { status: 0, body: { data: [] } };
  return { status: answer.status, body: (await answer.json()) as Got['body'] };
}

/** Starts a server that may convert no row before it serves. Returns it with its address before it listens. */
export async function startChanged(
  contentTypes: string,
  options: readonly string[],
): Promise<{ readonly varve: VarveProcess; readonly url: string }> {
  const port = await freePort();
  const varve = spawnVarve([
    ...['serve', '--content-types', contentTypes, '--port', String(port)],
    ...['--convert-at-once', '0', '--log-format', 'json', ...options],
  ]);
  return { varve, url: `http://127.0.0.1:${port}` };
}

/** Answers while content types changed. */
export type Change = {
  /** `old` and `new`, in the order of their first answers. */
  readonly seen: readonly string[];
  /** The notes of `/health/ready` during that time. */
  readonly notes: readonly unknown[];
};

/**
 * Asks for the cooks repeatedly until they have the new type. `versionOf` returns the type that a cook has. After the first answer every
 * request must be answered. `onOld` is called after each answer with the old type.
 */
export async function watchChange(
  { varve, url }: Awaited<ReturnType<typeof startChanged>>,
  versionOf: (cook: Record<string, unknown>) => 'old' | 'new',
  onOld: () => Promise<void> | void,
): Promise<Change> {
  const seen = new Set<string>();
  const notes = new Set<unknown>();
  while (!seen.has('new')) {
    const { status, body } = await get(`${url}/api/cooks?sort=id`);
    if (status === 200) {
      const kinds = new Set(body.data.map(versionOf));
      expect(kinds.size).toBe(1);
      const [kind = ''] = kinds;
      seen.add(kind);
      if (kind === 'old') await onOld();
      notes.add((await get(`${url}/health/ready`)).body['note']);
    } else {
      expect([0, 503]).toContain(status);
      expect([...seen]).toEqual([]);
    }
    if (varve.child.exitCode !== null) throw new Error(varve.output());
  }
  return { seen: [...seen], notes: [...notes] };
}

/** The note in the log and at `/health/ready`. */
export const CHANGE_NOTE =
  'The content types have changed: requests are answered as before until the new read model is live';

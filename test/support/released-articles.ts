import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, createApiClient } from './api-client.ts';
import { startServer } from './server.ts';
import { isLongRun } from './takes-minutes.ts';

export const ARTICLE = 'api::article.article';
export const PAGE = 'api::page.page';

/** Creates a folder of types: articles with a required title and a unique code, localized pages, and notes without drafts. */
function createArticleTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-articles-'));
  const type = (name: string, attributes: object, more: object = {}) => {
    mkdirSync(join(folder, name));
    const schema = {
      kind: 'collectionType',
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish: name !== 'note' },
      attributes,
      ...more,
    };
    writeFileSync(join(folder, name, 'schema.json'), JSON.stringify(schema));
  };
  const code = { type: 'string', unique: true };
  type('article', {
    title: { type: 'string', required: true },
    code,
    batch: { type: 'string' },
    text: { type: 'text' },
  });
  type('note', { title: { type: 'string' } });
  const localized = { pluginOptions: { i18n: { localized: true } } };
  type('page', { title: { type: 'string', ...localized } }, localized);
  return folder;
}

/** A release as the API answers with it. */
export type ShownRelease = {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly scheduledAt: string | null;
  readonly timezone: string | null;
  readonly releasedAt: string | null;
  readonly lateMs: number | null;
  readonly actions: { readonly meta: { readonly count: number } };
  readonly problems: readonly { readonly entryDocumentId: string; readonly reason: string }[];
};
export type ShownAction = {
  readonly id: number;
  readonly type: string;
  readonly entryDocumentId: string;
  readonly isEntryValid: boolean;
  readonly problem: string | null;
  readonly status: string;
  readonly locale: { readonly code: string } | null;
};

/** Creates the folder of types, which `remove` removes. */
export function articleTypes() {
  const folder = createArticleTypes();
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts a server of articles, which `dispose` ends and removes. */
export async function startArticles(args: readonly string[] = []) {
  const { folder: contentTypes, remove } = articleTypes();
  const server = await startServer({ contentTypes, arguments: args });
  return {
    server,
    client: createApiClient(server.url),
    async dispose(): Promise<void> {
      await server.dispose();
      remove();
    },
  };
}

/** Creates a draft, and returns its documentId. */
export async function draft(client: ApiClient, data: object, path = 'articles'): Promise<string> {
  const { documentId } = await client.data<{ readonly documentId: string }>(
    'POST',
    `/api/${path}?status=draft`,
    { data },
  );
  return documentId;
}

/** Returns a time that is so many milliseconds from now. */
export function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** Milliseconds until a scheduled release is due: the request that schedules it arrives before, also on a busy machine. */
export const SOON_MS = isLongRun() ? 8_000 : 2_000;

/** Adds a release with actions that publish these articles, and returns it. `soon`: it is scheduled once it has them all. */
export async function addRelease(
  client: ApiClient,
  { name, soon = false }: { readonly name: string; readonly soon?: boolean },
  articles: readonly string[],
): Promise<ShownRelease> {
  const { id } = await client.data<ShownRelease>('POST', '/_varve/releases', { data: { name } });
  const path = `/_varve/releases/${id}`;
  const data = articles.map((entryDocumentId) => ({
    type: 'publish',
    contentType: ARTICLE,
    entryDocumentId,
  }));
  if (data.length > 0) await client.data('POST', `${path}/actions/bulk`, { data });
  if (!soon) return client.data<ShownRelease>('GET', path);
  return client.data<ShownRelease>('PUT', path, { data: { name, scheduledAt: inMs(SOON_MS) } });
}

/** Resolves with a release as soon as it has this status. */
export async function untilStatus(client: ApiClient, id: number, status: string): Promise<ShownRelease> {
  for (;;) {
    const release = await client.data<ShownRelease>('GET', `/_varve/releases/${id}`);
    if (release.status === status) return release;
    await delay(20);
  }
}

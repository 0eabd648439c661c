import { expect } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import type { Ask } from './access-client.ts';

export type Pages = { readonly items: readonly FeedItem[]; readonly next: string; readonly pages: number };

/** Reads the feed from a token, or from its beginning, to its end. `query`: further parameters. */
export async function readFeed(ask: Ask, query = '', since?: string): Promise<Pages> {
  const items: FeedItem[] = [];
  let next = since;
  for (let pages = 1; ; pages++) {
    const { status, body } = await ask(
      `/api/_changes?${query}${next === undefined ? '' : `&since=${encodeURIComponent(next)}`}`,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    items.push(...body.data);
    next = body.meta.next as string;
    if (!body.meta.hasMore) return { items, next, pages };
  }
}

/** Creates the set of rows that a reader of the feed knows, by type, document, version and locale. */
export function createFollowedRows() {
  const rows = new Set<string>();
  const nameOf = ({ type, documentId, status }: FeedItem, locale: string) =>
    `${type} ${documentId} ${status} ${locale}`;
  return {
    rows,
    /** Applies items and checks that each is consistent with the rows before it. `isFirst`: the items are of a first sync. */
    apply(items: readonly FeedItem[]) {
      for (const item of items) {
        if (item.event === 'related') continue;
        for (const locale of item.locales.length === 0 ? ['-'] : item.locales) {
          const name = nameOf(item, locale);
          expect(rows.has(name), `${item.event} of ${name}`).toBe(item.event !== 'create');
          if (item.event === 'create') rows.add(name);
          if (item.event === 'delete') rows.delete(name);
        }
      }
    },
  };
}

import type { Meta, Request } from './api.ts';
import { callerRights, mayDo } from './content-model.ts';
import { type EntryPlace, entryPath, rowQuery } from './entry-request.ts';
import { html } from './html.ts';

/** A version of an entry, as the API lists it. */
export type Version = {
  readonly id: string;
  readonly documentId: string;
  readonly locale: string | null;
  readonly status: string | null;
  readonly action: string;
  readonly changed: readonly string[] | null;
  readonly createdAt: string;
  readonly createdBy: { readonly kind: string; readonly name?: string } | null;
  readonly via: string | null;
};

/** Deletion of a document: its version of the list, and the last one before it. */
export type Deletion = Pick<Version, 'documentId' | 'createdAt' | 'createdBy'> & { readonly version: string };

export type VersionsMeta = Meta & {
  readonly restored?: { readonly ignored?: readonly string[]; readonly missing?: readonly unknown[] };
  readonly deletions?: readonly Deletion[];
  readonly next?: string | null;
};

/** Returns the author of a version for people. */
export function versionAuthor({ createdBy }: Pick<Version, 'createdBy'>): string {
  return createdBy === null ? '' : [createdBy.kind, createdBy.name].filter(Boolean).join(' ');
}

/** Says what a restore could not write, because the content has changed since. */
export function RestoreNotice({ meta }: { readonly meta: VersionsMeta }) {
  const { ignored = [], missing = [] } = meta.restored ?? {};
  return html`<div class="notice" role="status"><p><strong>Restored.</strong> It is an ordinary write, and its version is the newest of the history.</p>
    ${ignored.length > 0 && html`<p>Attributes that the content type cannot have any more: ${ignored.join(', ')}.</p>`}
    ${missing.length > 0 && html`<p>Links to entries that do not exist: <code>${JSON.stringify(missing)}</code></p>`}</div>`;
}

/** Returns the request that writes a version as the draft, or as the entry of a type without drafts. */
export function restoreRequest(place: EntryPlace, version: string): Request {
  const path = entryPath(place, '/actions/restore', rowQuery(place));
  return { method: 'POST', path, body: { data: { version } } };
}

/** Returns whether the caller may restore versions of entries of a type. */
export function mayRestore({ type }: Pick<EntryPlace, 'type'>): boolean {
  return mayDo(type, 'update') && (!type.schema.draftAndPublish || callerRights.value?.drafts === true);
}

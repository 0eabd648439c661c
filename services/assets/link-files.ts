import { defined } from '../../shared/defined.ts';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';
import { PUBLICATION_STATE_FIELD } from '../../shared/read-index/bool-query.ts';
import { firstRow } from '../../shared/read-index/first-row.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import type { WrittenFiles } from './file-contents.ts';
import type { LinkRequest } from './link-request.ts';

/** Options of a link. `status` is the unchecked value of the request. */
type LinkCommand = { readonly status: unknown; readonly identity: CommandIdentity | undefined };

/** Links new files by an update of the entry. Throws what the update throws. */
export async function linkFiles(
  { commands, index }: { readonly commands: CommandHandler; readonly index: ReadIndex },
  link: LinkRequest,
  written: WrittenFiles,
  { status, identity }: LinkCommand,
): Promise<WrittenFiles> {
  const { type, attribute, documentId, locale } = link;
  const { documentIds } = written;
  const value = attribute.toMany ? { connect: documentIds } : documentIds[0];
  const {
    position,
    applied,
    unshown = written.unshown,
  } = await commands.execute({
    kind: 'update',
    type: type.uid,
    documentId,
    status: status ?? (await impliedStatus(index, link)),
    ...(locale === null ? {} : { locale }),
    body: { data: { [attribute.name]: value } },
    identity,
  });
  return { documentIds, position, applied: applied && written.applied, ...defined({ unshown }) };
}

/** Publishes the link if the entry is published, unless that would publish other edits too. */
async function impliedStatus(
  index: ReadIndex,
  { type, documentId, locale, draftOnly }: LinkRequest,
): Promise<'draft' | 'published'> {
  if (!type.draftAndPublish) return 'published';
  if (draftOnly) return 'draft';
  const published = await firstRow(index, {
    type: type.uid,
    world: 'draft',
    query: {
      kind: 'bool',
      filter: [
        { kind: 'term', field: 'documentId', value: documentId },
        { kind: 'term', field: PUBLICATION_STATE_FIELD, value: 'published' },
        ...(locale === null ? [] : [{ kind: 'term', field: 'locale', value: locale } as const]),
      ],
    },
  });
  return published === undefined ? 'draft' : 'published';
}

import type { Entry } from '../../shared/document/entry.ts';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import { mediaKindOf } from '../../shared/schema/media-kind.ts';
import { partOf, withContent } from '../command/command-identity.ts';
import {
  createFileContents,
  type FileContents,
  type FileContentsOptions,
  type WrittenFiles,
  writtenFiles,
} from './file-contents.ts';
import { parseFileInfo } from './file-info.ts';
import { infoValues } from './file-values.ts';
import { linkFiles } from './link-files.ts';
import { type LinkScope, refuseOtherFiles, resolveLinkRequest } from './link-request.ts';
import {
  discardAll,
  emptyFiles,
  type ReceivedFile,
  type ReceivedUpload,
  receiveUpload,
  type UploadLimits,
  type UploadPart,
} from './receive-upload.ts';
import { createSweeper } from './sweeper.ts';

export type FileLibraryOptions = LinkScope & FileContentsOptions & { readonly limits: UploadLimits };

/** Unchecked version and locale, in a request, of the entry that files are linked with. */
export type LinkTargeting = { readonly status: unknown; readonly locale: unknown };

/**
 * Files: their content is in the asset store, everything else is an ordinary document of `plugin::upload.file`, written by commands and so
 * in the log. An `id` is a numeric id or a documentId; 404 if no file has it. `identity`: equal for a write that is repeated with the same
 * content.
 */
export type FileLibrary = {
  /** Adds a form's files, and links them if the form names an entry. Does all of this or nothing. */
  add(
    parts: AsyncIterable<UploadPart>,
    targeting: LinkTargeting,
    identity?: CommandIdentity,
  ): Promise<WrittenFiles>;
  /** Handles a form for one file: new content, new `fileInfo`, or both. */
  change(id: string, parts: AsyncIterable<UploadPart>, identity?: CommandIdentity): Promise<WrittenFiles>;
  describe(id: string, info: unknown, identity?: CommandIdentity): Promise<WrittenFiles>;
  remove(id: string, identity?: CommandIdentity): Promise<WrittenFiles>;
} & Pick<FileContents, 'addFormats' | 'keepNamed' | 'forgetNames'>;

/** Creates the library of a process. Its content locks only work inside the process: two writing processes would conflict. */
export function createFileLibrary(options: FileLibraryOptions): FileLibrary {
  const { store, limits, commands } = options;
  const contents = createFileContents(options);
  const sweep = createSweeper((before) => contents.sweep(before));
  const describe = async (
    { documentId }: Entry,
    data: object,
    identity: CommandIdentity | undefined,
  ): Promise<WrittenFiles> => {
    const update = { kind: 'update', type: FILE_TYPE, documentId, body: { data }, identity } as const;
    return writtenFiles([await commands.execute(update)]);
  };
  return {
    async add(parts, targeting, identity) {
      const upload = await receiveUpload(store, parts, limits);
      const { link, infos } = await orDiscard(upload, () => addition(options, upload, targeting.locale));
      const same = withContent(identity, describeUpload(upload));
      const values = (file: ReceivedFile, i: number) => ({
        name: file.fileName,
        ...infoValues(infos[i] ?? {}),
      });
      const written = await contents.addAll(upload.files, values, same);
      sweep();
      if (link === undefined) return written;
      try {
        const { status } = targeting;
        return await linkFiles(options, link, written, { status, identity: partOf(same, 'link') });
      } catch (error) {
        // The client gets an error, so the files that it tried to link must not remain.
        await contents.removeAll(written.documentIds);
        throw error;
      }
    },
    async change(id, parts, identity) {
      const upload = await receiveUpload(store, parts, limits);
      const { before, info, file } = await orDiscard(upload, () => replacement(options, upload, id));
      const same = withContent(identity, describeUpload(upload));
      if (file === undefined) return describe(before, infoValues(info), same);
      return contents.replace(before, file, { name: file.fileName, ...infoValues(info) }, same);
    },
    describe: (id, given, identity) =>
      describe(findFile(options, id), infoValues(parseFileInfo([given])[0] ?? {}), identity),
    remove: (id, identity) => contents.remove(findFile(options, id), identity),
    addFormats: contents.addFormats,
    keepNamed: contents.keepNamed,
    forgetNames: contents.forgetNames,
  };
}

/** Describes the form: the same form gives the same description. */
function describeUpload({ files, fields }: ReceivedUpload): readonly string[] {
  return [
    ...files.map(({ staged, fileName }) => `${staged.hash} ${fileName}`),
    JSON.stringify([...fields].sort(([a], [b]) => (a < b ? -1 : 1))),
  ];
}

function addition(options: FileLibraryOptions, { files, fields }: ReceivedUpload, locale: unknown) {
  if (files.length === 0) throw emptyFiles();
  const link = resolveLinkRequest(options, fields, locale);
  if (link !== undefined) refuseOtherFiles(link, files);
  return { link, infos: parseFileInfo(fields.get('fileInfo') ?? []) };
}

function replacement(options: FileLibraryOptions, { files, fields }: ReceivedUpload, id: string) {
  const before = findFile(options, id);
  const [info] = parseFileInfo(fields.get('fileInfo') ?? []);
  if (files.length > 1) throw new RequestError('invalid-body', 'Cannot replace a file with multiple ones');
  const [file] = files;
  if (file !== undefined) refuseOtherKind(before, file);
  return { before, info: info ?? {}, file };
}

/** Refuses to replace a file by another kind: entries that show a picture rely on it to remain one. */
function refuseOtherKind(before: Entry, { media }: ReceivedFile): void {
  const kind = mediaKindOf(String(before.values['mime']));
  if (mediaKindOf(media.mime) === kind) return;
  const message = `A file of the kind '${kind}' can only be replaced by a file of the same kind`;
  throw new RequestError('invalid-body', message, { path: 'files', found: media.mime, accepted: kind });
}

function findFile({ graph }: FileLibraryOptions, id: string): Entry {
  const documentId = /^\d{1,15}$/.test(id) ? graph.documentOfId(FILE_TYPE, Number(id))?.documentId : id;
  const [file] = documentId === undefined ? [] : graph.entries(FILE_TYPE, documentId);
  // Strapi's message.
  if (file === undefined) throw new RequestError('not-found', 'file.notFound');
  return file;
}

async function orDiscard<Result>({ files }: ReceivedUpload, check: () => Result): Promise<Result> {
  try {
    return check();
  } catch (error) {
    await discardAll(files);
    throw error;
  }
}

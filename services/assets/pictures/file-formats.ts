import { isHash } from '../../../shared/asset-store/asset-hash.ts';
import { nameInSpace, servedName } from '../../../shared/asset-store/served-names.ts';
import type { ContentGraphReader, Entry } from '../../../shared/document/entry.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { FILE_TYPE } from '../../../shared/schema/content-type.ts';
import type { CommandHandler } from '../../command/command-handler.ts';
import { isResized } from './format-sizes.ts';
import {
  type FormatsTarget,
  type MadeFormats,
  makeFormats,
  type Picture,
  type PictureFormats,
  renamedFormats,
  wantsFormats,
} from './make-formats.ts';
import type { PictureSettings } from './picture-settings.ts';
import { tooManyPixels } from './too-many-pixels.ts';

/** Outcome for a file that was to get formats. `none`: it has them, or gets none. */
export type AddedFormats =
  | { readonly kind: 'made' }
  | { readonly kind: 'none' }
  | { readonly kind: 'left'; readonly reason: string };

export type FileFormatsOptions = Omit<FormatsTarget, 'resizer'> & {
  readonly commands: CommandHandler;
  readonly graph: ContentGraphReader;
  readonly pictures: PictureSettings;
  readonly holding: <Result>(hash: string, run: () => Promise<Result>) => Promise<Result>;
};

type PictureSize = { readonly width: number | null; readonly height: number | null };

/**
 * Creates the part of a library that makes the smaller pictures of files, as the attribute `formats` has them. `holding` runs work under
 * the lock of a content. `ofNew` expects that its caller has the lock.
 */
export function createFileFormats(options: FileFormatsOptions) {
  const { store, graph, commands, holding, pictures } = options;
  const { made, resizer, left } = pictures;
  const target = { ...options, resizer };
  const make = async (picture: Picture, hash: string): Promise<MadeFormats> => {
    const opened = await store.open(hash);
    if (opened === undefined) return { kind: 'failed', reason: 'its content is missing' };
    return makeFormats(target, picture, opened.content);
  };
  const addTo = async (documentId: string, hash: string): Promise<AddedFormats> => {
    const file = pictureWithout(graph.entries(FILE_TYPE, documentId)[0]);
    if (file === undefined) return { kind: 'none' };
    const result = await make(file, hash);
    if (result.kind !== 'made') return { kind: 'left', reason: reasonOf(result) };
    const { formats } = result;
    if (formats === null) return { kind: 'none' };
    await commands.execute({ kind: 'update', type: FILE_TYPE, documentId, body: { data: { formats } } });
    return { kind: 'made' };
  };
  const add = async (documentId: string): Promise<AddedFormats> => {
    const file = pictureWithout(graph.entries(FILE_TYPE, documentId)[0]);
    if (file === undefined) return { kind: 'none' };
    const hash = await contentOf(options, file);
    if (hash === undefined) return { kind: 'left', reason: `its content is elsewhere: ${file.url}` };
    return holding(hash, () => addTo(documentId, hash));
  };
  return {
    /** Attribute of a file whose content was just stored, under its lock. Throws 400 for a damaged picture and 413 for too many pixels. */
    async ofNew(picture: Picture & PictureSize): Promise<{ readonly formats?: PictureFormats }> {
      if (made !== 'before' || !isResized(picture.mime)) return {};
      // A picture that needs no formats is not decoded: Strapi decodes it, and refuses a small one that is damaged too.
      if (!wantsFormats(picture.width, picture.height)) return {};
      const known = formatsOfSame(options, picture);
      if (known !== undefined) return { formats: renamedFormats(known, picture.name) };
      const result = await make(picture, picture.hash);
      if (result.kind === 'made') return { formats: result.formats };
      if (result.kind !== 'failed') throw refusal(picture.name, result);
      left(picture.name, result.reason);
      return {};
    },
    /** Makes them in the background, if formats are made after the answer. */
    later(documentId: string): void {
      if (made !== 'after') return;
      void add(documentId).then(
        (added) => added.kind === 'left' && left(documentId, added.reason),
        (error: unknown) => left(documentId, (error as Error).message),
      );
    },
    add,
  };
}

/** Picture that should have formats and has none. */
function pictureWithout(file: Entry | undefined): Picture | undefined {
  if (file === undefined) return undefined;
  const { formats, mime, width, height } = file.values;
  if (formats !== null && formats !== undefined) return undefined;
  return isResized(String(mime)) && wantsFormats(width, height) ? (file.values as Picture) : undefined;
}

/** Returns the hash of a file's content in this store; undefined if the content is not here. */
async function contentOf({ store, space }: FileFormatsOptions, { hash, url }: Picture) {
  if (isHash(hash) && !url.includes(`/${hash}`)) return hash;
  const name = servedName(url);
  if (name === undefined) return undefined;
  const named = await store.names.find(nameInSpace(space, name));
  return named?.hash ?? (isHash(hash) ? hash : undefined);
}

/** Returns the formats of a file with the same content: the pictures at their URLs never change. */
function formatsOfSame({ graph }: FileFormatsOptions, { hash }: Picture): PictureFormats | undefined {
  const documentId = graph.documentWithUnique({ type: FILE_TYPE, place: 'hash', locale: null, text: hash });
  const [same] = documentId === undefined ? [] : graph.entries(FILE_TYPE, documentId);
  return (same?.values['formats'] as PictureFormats | undefined) ?? undefined;
}

function refusal(
  name: string,
  result: Extract<MadeFormats, { readonly kind: 'faulty' | 'too large' }>,
): RequestError {
  if (result.kind === 'too large') return tooManyPixels(name, result);
  // Strapi's message.
  return new RequestError('not-applicable', 'File is not a valid image', {
    path: 'files',
    found: name,
  });
}

function reasonOf(result: Exclude<MadeFormats, { readonly kind: 'made' }>): string {
  switch (result.kind) {
    case 'failed':
      return result.reason;
    case 'faulty':
      return 'it is damaged';
    case 'too large':
      return tooManyPixels('it', result).message;
  }
}

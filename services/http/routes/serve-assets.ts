import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { isHash } from '../../../shared/asset-store/asset-hash.ts';
import type { ByteRange } from '../../../shared/asset-store/asset-store.ts';
import { nameInSpace, UPLOADS_PATH } from '../../../shared/asset-store/served-names.ts';
import { firstRow } from '../../../shared/read-index/first-row.ts';
import type { ReadIndex } from '../../../shared/read-index/read-index.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { FILE_TYPE } from '../../../shared/schema/content-type.ts';
import type { FileLibraryOptions } from '../../assets/file-library.ts';
import { pictureName } from '../../assets/pictures/format-names.ts';
import { isSameEntity } from '../answers/entity-tag.ts';
import { partOfPath } from './entry-routes.ts';
import { assetHeaders } from './serve-assets-headers.ts';

/** `space` is part of the stored names, because imported files of several namespaces may have the same name. */
export type AssetRoutesOptions = Pick<FileLibraryOptions, 'store' | 'index' | 'space'>;

type FileFacts = {
  readonly hash: string;
  readonly mime: string;
  readonly name: string;
  readonly createdAt: string;
};

/**
 * A served file. `isKept`: the file has kept its name from another system. Later, that name may mean other content. `since`: time since
 * which the name means this content.
 */
type ServedFile = Omit<FileFacts, 'createdAt'> & {
  readonly isKept: boolean;
  readonly since: string | undefined;
};

/**
 * Serves `/uploads/<name>.<ext>`: the content of existing files, under the name that the upload gave them. Such a URL always means the same
 * bytes, so caches may keep it forever (RFC 9110 for ranges and conditions, RFC 8246 for `immutable`). Imported files keep their names, and
 * caches revalidate those each time.
 */
export function registerAssets(app: FastifyInstance, options: AssetRoutesOptions): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${UPLOADS_PATH}:name`,
    exposeHeadRoute: false,
    handler: (request, reply) => serveAsset(options, request, reply),
  });
}

async function serveAsset(
  options: AssetRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { store } = options;
  const file = await findServed(options, partOfPath(request, 'name'));
  const size = file === undefined ? undefined : await store.size(file.hash);
  if (file === undefined || size === undefined) throw new RequestError('not-found', 'Not Found');
  const tag = `"${file.hash}"`;
  reply.headers(assetHeaders(file.mime, file.isKept)).header('etag', tag);
  const since = httpDate(file.since);
  if (since !== undefined) reply.header('last-modified', since.toUTCString());
  reply.header('content-disposition', disposition(reply, file.name));
  if (isUnchanged(request, tag, since)) return reply.code(304).send();
  const range = requestedRange(request, tag, size);
  if (range === 'unsatisfiable') {
    // Caches may keep the file forever, but not the refusal of a range.
    reply.header('cache-control', 'no-store').header('content-range', `bytes */${size}`);
    return reply.code(416).header('content-length', 0).send();
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
  reply.header('content-length', end - start + 1);
  if (request.method === 'HEAD') return reply.send();
  const opened = await store.open(file.hash, range);
  if (opened === undefined) throw new RequestError('not-found', 'Not Found');
  return reply.send(opened.content);
}

/** Finds the content of a name. Imported files, and the smaller pictures made of them, have their original names. */
async function findServed(
  { index, store, space }: AssetRoutesOptions,
  name: string,
): Promise<ServedFile | undefined> {
  const file = await findFile(index, name);
  // Exports of Varve name files by these hashes. After an import such names are kept names.
  const isContent = file !== undefined && isHash(file.hash);
  const own = isContent ? { ...file, isKept: false, since: file.createdAt } : undefined;
  if (own !== undefined && !name.startsWith(own.hash)) return own;
  const content = await store.names.find(nameInSpace(space, name));
  if (content === undefined) return own;
  // Formats of a picture are made once. Until the picture is removed, their names mean the same bytes.
  const isFormat = file === undefined && (await isFormatOfContent(index, name));
  return { name: file?.name ?? name, ...content, isKept: !isFormat, since: undefined };
}

async function isFormatOfContent(index: ReadIndex, name: string): Promise<boolean> {
  const picture = pictureName(name);
  const file = picture === undefined ? undefined : await findFile(index, picture);
  return file !== undefined && isHash(file.hash) && !picture?.startsWith(file.hash);
}

/** Finds the file of a URL. The extension is part of the URL, so a client cannot choose the content type. */
function findFile(index: ReadIndex, name: string): Promise<FileFacts | undefined> {
  const query = { kind: 'term', field: 'url', value: `${UPLOADS_PATH}${name}` } as const;
  return firstRow(index, { type: FILE_TYPE, world: 'published', query });
}

function disposition(reply: FastifyReply, name: string): string {
  const type = String(reply.getHeader('content-disposition') ?? 'attachment');
  return contentDisposition(name, { type });
}

/** Returns whether the client has the content. As in RFC 9110 a date counts only without a tag. */
function isUnchanged({ headers }: FastifyRequest, tag: string, since: Date | undefined): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return isSameEntity(tags, tag);
  const seen = Date.parse(headers['if-modified-since'] ?? '');
  return since !== undefined && seen >= since.getTime();
}

/** Returns a time in whole seconds, because HTTP dates have no fractions. */
function httpDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(Math.floor(Date.parse(text) / 1000) * 1000);
}

/** Returns the range of bytes that a GET asks for. For several ranges, other units and other methods the answer is the whole file. */
function requestedRange(
  { headers, method }: FastifyRequest,
  tag: string,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  if (headers.range === undefined || method !== 'GET') return undefined;
  if (headers['if-range'] !== undefined && headers['if-range'] !== tag) return undefined;
  const ranges = parseRange(size, headers.range, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

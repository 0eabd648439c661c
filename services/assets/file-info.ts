import { z } from 'zod';
import { parseShallowJson } from '../../shared/json-depth.ts';
import { RequestError } from '../../shared/request-error.ts';

/** File information that a client may set. An absent member keeps its value, null clears it. */
export type FileInfo = {
  readonly name?: string | null | undefined;
  readonly alternativeText?: string | null | undefined;
  readonly caption?: string | null | undefined;
  readonly focalPoint?: unknown;
};

const TEXT = z.string().nullish();
const PERCENT = z.number().min(0).max(100);
const FILE_INFO = z.strictObject({
  name: TEXT,
  alternativeText: TEXT,
  caption: TEXT,
  focalPoint: z.strictObject({ x: PERCENT, y: PERCENT }).nullish(),
  // Folders belong to Strapi's admin panel. They are accepted and have no effect.
  folder: z.unknown().optional(),
});

/**
 * Parses the `fileInfo` of a request: an object or a list, as parsed JSON or as JSON text in a form. A form may also have one field for
 * each file. Throws 400.
 */
export function parseFileInfo(values: readonly unknown[]): readonly FileInfo[] {
  const items = values.flatMap((value) => [typeof value === 'string' ? parseJson(value) : value].flat());
  return items.map((item, index) => {
    const parsed = FILE_INFO.safeParse(item);
    if (parsed.success) {
      const { folder: _, ...info } = parsed.data;
      return info;
    }
    const [issue] = parsed.error.issues;
    const path = ['fileInfo', ...(items.length > 1 ? [index] : []), ...(issue?.path ?? [])].join('.');
    throw new RequestError('invalid-body', `${path}: ${issue?.message ?? 'is invalid'}`, {
      path,
      found: item,
      accepted: Object.keys(FILE_INFO.shape).filter((name) => name !== 'folder'),
    });
  });
}

function parseJson(text: string): unknown {
  try {
    return parseShallowJson(text);
  } catch {
    throw new RequestError('invalid-body', 'fileInfo is not valid JSON', {
      path: 'fileInfo',
      found: text.slice(0, 200),
      accepted: 'a JSON object for each file',
    });
  }
}

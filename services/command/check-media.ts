import type { LinkTarget } from '../../shared/document/events.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { RelationAttribute } from '../../shared/schema/content-type.ts';
import { allowsMedia } from '../../shared/schema/media-kind.ts';
import { validationError } from './problem.ts';

/**
 * Returns a 400 for the first file of a kind that the media attribute does not allow. In Strapi only the admin panel checks this. Without
 * `mimeOf` nothing is checked.
 */
export function otherMediaError(
  { name, media }: RelationAttribute,
  targets: readonly LinkTarget[],
  mimeOf: ((documentId: string) => string | undefined) | undefined,
): RequestError | undefined {
  if (media === undefined || mimeOf === undefined) return undefined;
  for (const { documentId } of targets) {
    const mime = mimeOf(documentId);
    if (mime === undefined || allowsMedia(media.allowedTypes, mime)) continue;
    return validationError(
      `${name} accepts only ${media.allowedTypes.join(', ')}: found a file of type ${mime}`,
      {
        path: name,
        found: mime,
        accepted: media.allowedTypes,
      },
    );
  }
  return undefined;
}

import { RequestError } from '../../../shared/request-error.ts';

type Frames = { readonly width: number | null; readonly height: number | null; readonly frames: number };

/** Answers a picture that would take too much memory to decode. */
export function tooManyPixels(name: string, { width, height, frames }: Frames): RequestError {
  const size = `${width} x ${height} pixels${frames > 1 ? ` in each of ${frames} frames` : ''}`;
  const message = `${name} has ${size}, which is more than --picture-pixels allows`;
  return new RequestError('picture-too-large', message, { path: 'files' });
}

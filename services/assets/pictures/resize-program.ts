import sharp from 'sharp';
import { type ResizeRequest, resizePicture } from './resize-picture.ts';

/** A program: makes the formats of one picture in a process of its own, which a picture that was made to hurt may end. */
sharp.cache(false);
sharp.concurrency(1);
const [request = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await resizePicture(sharp, JSON.parse(request) as ResizeRequest)));

import sharp from 'sharp';
import { type ResizeRequest, resizePicture } from './resize-picture.ts';

/** A program: makes the formats of one picture in a separate process, which a malicious picture may crash. */
sharp.cache(false);
sharp.concurrency(1);
const [request = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await resizePicture(sharp, JSON.parse(request) as ResizeRequest)));

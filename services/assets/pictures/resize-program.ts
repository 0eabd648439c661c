import sharp from 'sharp';
import { type ResizeRequest, resizePicture } from './resize-picture.ts';

/** Program that makes the formats of a picture in a separate process, because a malicious picture may crash it. */
sharp.cache(false);
sharp.concurrency(1);
const [request = ''] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await resizePicture(sharp, JSON.parse(request) as ResizeRequest)));

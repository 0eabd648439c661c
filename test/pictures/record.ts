import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { format } from 'node:util';

/**
 * A program that uploads the pictures of `files/` to a Strapi, and records its answers. The role Public must have the right to upload.
 * `node test/pictures/record.ts http://127.0.0.1:1337 test/pictures/strapi-5.54.json`
 */
const [base = '', target = ''] = process.argv.slice(2);
const FILES = join(import.meta.dirname, 'files');

/** Content types that a browser derives from a file name. */
const TYPES: { readonly [ext: string]: string } = {
  '.avif': 'image/avif',
  '.gif': 'image/gif',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tif': 'image/tiff',
  '.webp': 'image/webp',
};

/** Members that differ between recordings. */
const CHANGING = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt'];

async function record(name: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const form = new FormData();
  const type = TYPES[extname(name)] ?? '';
  form.append('files', new Blob([readFileSync(join(FILES, name))], { type }), name);
  const answer = await fetch(`${base}/api/upload`, { method: 'POST', body: form });
  const body = (await answer.json()) as readonly object[];
  const [file] = Array.isArray(body) ? body : [];
  if (file === undefined) return { status: answer.status, body };
  const kept = Object.entries(file).filter(([member]) => !CHANGING.includes(member));
  return { status: answer.status, body: Object.fromEntries(kept) };
}

const recorded: { [name: string]: unknown } = {};
for (const name of readdirSync(FILES).sort()) recorded[name.normalize()] = await record(name);
writeFileSync(target, `${JSON.stringify(recorded, null, 2)}\n`);
console.log(format('%d answers in %s', Object.keys(recorded).length, target));

import { describe, expect, it } from 'vitest';
import { acceptsMime, parseAcceptedMedia } from '../../../services/assets/accepted-media.ts';
import { detectMedia, HEAD_BYTES } from '../../../services/assets/detect-media.ts';
import { cleanFileName } from '../../../services/assets/file-name.ts';
import { png } from '../../support/upload-client.ts';

const format = async (bytes: string | Uint8Array, name: string) => {
  const { ext, mime } = await detectMedia(Buffer.from(bytes as string), name);
  return [ext, mime];
};

describe('detectMedia', () => {
  it('uses the name only to distinguish Office files of one container', async () => {
    const container = Buffer.concat([
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      Buffer.alloc(600),
    ]);
    expect(await format(container, 'a.DOC')).toEqual(['.doc', 'application/msword']);
    expect(await format(container, 'a.png')).toEqual(['.cfb', 'application/x-cfb']);
  });

  it('detects text if the head ends inside a character', async () => {
    expect(await format(Buffer.from('schön').subarray(0, 4), 'a.txt')).toEqual(['.txt', 'text/plain']);
  });

  it.each([
    ['UTF-8 that is broken', Buffer.from([0x61, 0xff, 0x62])],
    ['a NUL', Buffer.from('a\0b')],
  ])('detects no text in %s', async (_, bytes) => {
    expect(await format(bytes, 'a.txt')).toEqual(['.bin', 'application/octet-stream']);
  });

  it.each([
    ['a comment with a dash', '<!-- a -- b --><svg/>'],
    ['a document type with entities', '<!DOCTYPE svg [<!ENTITY a "b>">]>\n<svg >'],
    ['a prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
    ['a byte order mark', '\uFEFF<svg>'],
  ])('finds the root element behind %s', async (_, text) => {
    expect(await format(text, 'a.txt')).toEqual(['.svg', 'image/svg+xml']);
  });

  it('detects text that mentions SVG as text', async () => {
    expect(await format('see <svg> and <html>', 'a.md')).toEqual(['.md', 'text/markdown']);
    expect(await format('<svgx>', 'a.txt')).toEqual(['.txt', 'text/plain']);
  });

  it.each(['<!--', '<!---->', '<?', '<!x>', '<!x['])(
    'decides quickly about a head full of %s',
    { timeout: 10_000 },
    async (piece) => {
      const [ext] = await format(piece.repeat(HEAD_BYTES / piece.length), 'a.svg');
      expect(['.txt', '.xml']).toContain(ext);
    },
  );

  it('returns no size for a picture whose header does not contain it', async () => {
    const broken = png(5, 5).subarray(0, 18);
    expect(await detectMedia(broken, 'a.png')).toMatchObject({ width: null, height: null });
  });
});

describe('accepted types', () => {
  it('may be types, kinds or all', () => {
    const accepted = parseAcceptedMedia('image/*, application/pdf') ?? [];
    expect(
      ['image/png', 'application/pdf', 'text/plain', 'imagex/png'].map((mime) => acceptsMime(accepted, mime)),
    ).toEqual([true, true, false, false]);
    expect(acceptsMime(parseAcceptedMedia('*/*') ?? [], 'x/y')).toBe(true);
  });

  it.each(['', 'image', 'image/', '*/png', 'image/png;charset=x', 'image/png,'])('refuse %j', (text) => {
    expect(parseAcceptedMedia(text)).toBeUndefined();
  });
});

it('a clean file name is its last segment, without control characters, of 255 characters', () => {
  expect(cleanFileName('C:\\x\\..\\a\r\nb.txt')).toBe('ab.txt');
  expect(cleanFileName('e\u0301.png')).toBe('é.png');
  expect(cleanFileName('\u{1F600}'.repeat(300))).toBe('\u{1F600}'.repeat(127));
  expect(cleanFileName('n'.repeat(300))).toBe('n'.repeat(255));
  expect(['', '.', '..', '/', ' '].map(cleanFileName)).toEqual(Array(5).fill('file'));
});

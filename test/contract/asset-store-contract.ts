import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AssetStore, AssetTooLarge, type ByteRange } from '../../shared/asset-store/asset-store.ts';

/** A place for assets, empty at first. `open` returns another store on the same place. */
export type AssetPlace = {
  readonly open: () => Promise<AssetStore>;
  /** Returns the names of all assets, including those that are still arriving. */
  readonly names: () => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
};

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Tests that every adapter of the AssetStore port passes. */
export const describeAssetStore = (name: string, createPlace: () => Promise<AssetPlace>): void => {
  const placeForTest = async () => {
    const place = await createPlace();
    onTestFinished(place.remove);
    return { place, store: await place.open() };
  };
  describe(`asset store contract: ${name}`, () => {
    it('keeps content under the SHA-256 of its bytes', async () => {
      const { store } = await placeForTest();
      const bytes = randomBytes(100_000);
      const staged = await store.stage(chunks(bytes, 4096), NO_LIMIT);
      expect(staged).toMatchObject({ hash: sha256(bytes), size: 100_000 });
      await staged.keep();
      expect(await read(store, staged.hash)).toEqual({ size: 100_000, bytes });
      expect(await store.size(staged.hash)).toBe(100_000);
    });

    it('records which log writes here, for every store of the same folder or bucket', async () => {
      const { place, store } = await placeForTest();
      expect(await store.owner.read()).toEqual({});
      for (const claim of ['first', 'second']) {
        const owners = { one: { log: 'a log', claim }, two: { log: 'another', claim } };
        await store.owner.write(owners);
        expect(await (await place.open()).owner.read()).toEqual(owners);
      }
    });

    it('keeps empty content', async () => {
      const { store } = await placeForTest();
      const staged = await store.stage(chunks(Buffer.alloc(0), 1), NO_LIMIT);
      await staged.keep();
      expect(await read(store, sha256(Buffer.alloc(0)))).toEqual({ size: 0, bytes: Buffer.alloc(0) });
    });

    it('shows no content before it is kept, and no discarded content', async () => {
      const { place, store } = await placeForTest();
      const staged = await store.stage(chunks(Buffer.from('secret'), 2), NO_LIMIT);
      expect(await store.size(staged.hash)).toBeUndefined();
      expect(await store.open(staged.hash)).toBeUndefined();
      await staged.discard();
      expect(await place.names()).toEqual([]);
    });

    it('stores equal content once', async () => {
      const { place, store } = await placeForTest();
      const [first, second] = await Promise.all([
        store.stage(chunks(Buffer.from('same'), 1), NO_LIMIT),
        store.stage(chunks(Buffer.from('same'), 3), NO_LIMIT),
      ]);
      await first.keep();
      await second.keep();
      expect(await place.names()).toHaveLength(1);
      expect(await read(store, first.hash)).toMatchObject({ bytes: Buffer.from('same') });
    });

    it('keeps content when an equal upload is discarded', async () => {
      const { store } = await placeForTest();
      const first = await store.stage(chunks(Buffer.from('same'), 1), NO_LIMIT);
      await first.keep();
      await (await store.stage(chunks(Buffer.from('same'), 1), NO_LIMIT)).discard();
      expect(await store.size(first.hash)).toBe(4);
    });

    it('accepts content of exactly the limit, refuses one byte more, and leaves nothing', async () => {
      const { place, store } = await placeForTest();
      const fits = await store.stage(chunks(Buffer.alloc(10, 1), 3), 10);
      expect(fits.size).toBe(10);
      await fits.discard();
      await expect(store.stage(chunks(Buffer.alloc(11, 1), 3), 10)).rejects.toThrow(AssetTooLarge);
      expect(await place.names()).toEqual([]);
    });

    it('stops reading content that is too large', async () => {
      const { store } = await placeForTest();
      let given = 0;
      const endless = async function* () {
        for (;;) {
          given += 5;
          yield Buffer.alloc(5);
        }
      };
      await expect(store.stage(endless(), 10)).rejects.toThrow(AssetTooLarge);
      expect(given).toBe(15);
    });

    it('keeps nothing of interrupted content, and rejects with its error', async () => {
      const { place, store } = await placeForTest();
      const broken = async function* () {
        yield Buffer.from('half of ');
        throw new Error('the line went dead');
      };
      await expect(store.stage(broken(), NO_LIMIT)).rejects.toThrow('the line went dead');
      expect(await place.names()).toEqual([]);
    });

    it.each<[ByteRange, string]>([
      [{ start: 0, end: 0 }, '0'],
      [{ start: 2, end: 5 }, '2345'],
      [{ start: 9, end: 9 }, '9'],
      [{ start: 0, end: 9 }, '0123456789'],
    ])('opens the stretch %o, and tells the whole size', async (range, expected) => {
      const { store } = await placeForTest();
      const { hash } = await keep(store, '0123456789');
      expect(await read(store, hash, range)).toEqual({ size: 10, bytes: Buffer.from(expected) });
    });

    it('finds no content that it never had', async () => {
      const { store } = await placeForTest();
      expect(await store.open(sha256(Buffer.from('x')))).toBeUndefined();
      expect(await store.size(sha256(Buffer.from('x')))).toBeUndefined();
      await store.delete(sha256(Buffer.from('x')));
    });

    it('deletes content, and accepts the same content again', async () => {
      const { place, store } = await placeForTest();
      const { hash } = await keep(store, 'again');
      await store.delete(hash);
      expect(await store.open(hash)).toBeUndefined();
      expect(await place.names()).toEqual([]);
      await keep(store, 'again');
      expect(await read(store, hash)).toMatchObject({ bytes: Buffer.from('again') });
    });

    it('reads content to its end, even if it is deleted in the meantime', async () => {
      const { store } = await placeForTest();
      const { hash } = await keep(store, 'still here');
      const opened = await store.open(hash);
      await store.delete(hash);
      expect(await collect(opened!.content)).toEqual(Buffer.from('still here'));
    });

    it('has the same content as another store of the same folder or bucket', async () => {
      const { place, store } = await placeForTest();
      const { hash } = await keep(store, 'shared');
      expect(await read(await place.open(), hash)).toMatchObject({ bytes: Buffer.from('shared') });
    });

    it('suspects and clears the same content at once', async () => {
      const { store } = await placeForTest();
      const hash = 'a'.repeat(64);
      const upload = async () => {
        for (let i = 0; i < 50; i++) {
          await store.suspect(hash);
          await store.clear(hash);
        }
      };
      await Promise.all(Array.from({ length: 4 }, upload));
      await store.clear(hash);
      expect(await Array.fromAsync(store.suspects(Date.now() + 60_000))).not.toContain(hash);
    });

    it('finds content that was suspected before a given time, until it is cleared', async () => {
      const { place, store } = await placeForTest();
      const [one = '', two = ''] = ['one', 'two'].map((text) => sha256(Buffer.from(text)));
      for (const hash of [one, two, one]) await store.suspect(hash);
      const other = await place.open();
      const suspects = async (before: number) => (await Array.fromAsync(other.suspects(before))).toSorted();
      expect(await suspects(Date.now() + 60_000)).toEqual([one, two].toSorted());
      expect(await suspects(Date.now() - 60_000)).toEqual([]);
      await store.clear(one);
      await store.clear(one);
      expect(await suspects(Date.now() + 60_000)).toEqual([two]);
      await store.clear(two);
      expect(await place.names()).toEqual([]);
    });

    it('finds content by its imported names, until these are removed', async () => {
      const { place, store } = await placeForTest();
      const [one, two] = [await keep(store, 'one'), await keep(store, 'two')];
      const mime = 'image/png';
      expect(await store.names.find('a/../b.png')).toBeUndefined();
      expect(await store.names.isNamed(one.hash)).toBe(false);
      for (const name of ['a/../b.png', 'ñ.png']) await store.names.give(name, { hash: one.hash, mime });
      const { names } = await place.open();
      expect(await names.find('a/../b.png')).toMatchObject({ hash: one.hash, mime });
      expect(await names.isNamed(one.hash)).toBe(true);
      await names.give('ñ.png', { hash: two.hash, mime });
      expect(await store.names.find('ñ.png')).toMatchObject({ hash: two.hash });
      await store.names.take('a/../b.png');
      await store.names.take('a/../b.png');
      expect(await Promise.all([one, two].map(({ hash }) => names.isNamed(hash)))).toEqual([false, true]);
      expect(await names.find('a/../b.png')).toBeUndefined();
      await names.take('ñ.png');
      const left = (await place.names()).map((path) => path.split('/').at(-1));
      expect(left.toSorted()).toEqual([one.hash, two.hash].toSorted());
    });

    it.each(['../secret', '', 'A'.repeat(64), `${'a'.repeat(63)}/`])(
      'does not accept %j as a hash',
      async (hash) => {
        const { store } = await placeForTest();
        await expect(async () => store.open(hash)).rejects.toThrow('not a SHA-256');
        await expect(async () => store.delete(hash)).rejects.toThrow('not a SHA-256');
        await expect(async () => store.suspect(hash)).rejects.toThrow('not a SHA-256');
        await expect(async () => store.clear(hash)).rejects.toThrow('not a SHA-256');
        await expect(async () => store.names.isNamed(hash)).rejects.toThrow('not a SHA-256');
      },
    );
  });
};

async function keep(store: AssetStore, text: string) {
  const staged = await store.stage(chunks(Buffer.from(text), 3), NO_LIMIT);
  await staged.keep();
  return staged;
}

async function read(store: AssetStore, hash: string, range?: ByteRange) {
  const opened = await store.open(hash, range);
  if (opened === undefined) return undefined;
  return { size: opened.size, bytes: await collect(opened.content) };
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(content));
}

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

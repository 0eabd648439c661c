import type { ChangeBatch, LinkChange, RowChange } from '../../shared/read-index/read-index.ts';
import type { Random } from '../bench/embedded-data.ts';

/** Makes random changes: values of another row for some rows, rows that go and come back, and links that move. */
export function createChanges({ rows, links }: ChangeBatch) {
  const gone: RowChange[] = [];
  const changeRow = (random: Random): RowChange[] => {
    const [change, other] = [random.pick(rows), random.pick(rows)];
    if (random.chance(0.3)) {
      gone.push(change);
      return [{ ...change, row: null }];
    }
    const isSame = other.type === change.type && other.version === change.version;
    if (!isSame || other.row === null || change.row === null) return [];
    const fields = { ...other.row.fields, id: change.row.fields['id'] ?? null };
    return [{ ...change, row: { ...other.row, fields } }];
  };
  const moveLink = (random: Random): LinkChange[] => {
    const [link, other] = [random.pick(links), random.pick(links)];
    const isSame = link.attribute === other.attribute && link.world === other.world;
    return [{ ...link, order: null }, ...(isSame ? [{ ...link, target: other.target }] : [])];
  };
  const several = <Change>(count: number, make: () => Change[]) => Array.from({ length: count }, make).flat();
  return (random: Random, position: bigint): ChangeBatch => ({
    position,
    rows: [
      ...several(random.chance(0.05) ? 300 : random.below(4), () => changeRow(random)),
      ...(random.chance(0.2) ? gone.splice(0) : []),
    ],
    links: several(random.below(6), () => moveLink(random)),
  });
}

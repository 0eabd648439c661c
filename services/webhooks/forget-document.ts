import { isRecord } from '../../shared/json-record.ts';
import type { Database } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';

const BODIES = 'SELECT seq, body FROM deliveries WHERE instr(body, ?) > 0';
const REPLACE = 'UPDATE deliveries SET body = ? WHERE seq = ?';

/** Leaves of an erased document only its name, in the bodies of all deliveries that show it, also inside of other documents. */
export function forgetDocument(db: Database, documentId: string): void {
  transaction(db, () => {
    for (const { seq, body } of prepared(db, BODIES).all(documentId))
      prepared(db, REPLACE).run(JSON.stringify(nameOnly(JSON.parse(String(body)), documentId)), Number(seq));
  });
}

function nameOnly(value: unknown, documentId: string): unknown {
  if (Array.isArray(value)) return value.map((each) => nameOnly(each, documentId));
  if (!isRecord(value)) return value;
  // The cause of a delivery has the document's name, and no other value of it.
  if (value['documentId'] === documentId && value['uid'] === undefined) return { documentId };
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, nameOnly(member, documentId)]),
  );
}

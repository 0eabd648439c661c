import type { ConditionCheck } from '../operating/conditions.ts';

/** Returns the condition of a process that waits for other content types. `leader`: undefined if there is none yet. */
export function checkTypes(differences: readonly string[], leader: string | undefined): ConditionCheck {
  const others = differences.length - 1;
  const more = others === 0 ? '' : `, and ${others} more content types differ`;
  const of = leader === undefined ? 'those in force' : `those of the leader ${leader}`;
  return () => ({
    code: 'types-differ',
    message: `the content types differ from ${of}: ${differences[0]}${more}`,
    isUnready: true,
  });
}

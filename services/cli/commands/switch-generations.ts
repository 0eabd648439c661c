import type { OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';

/** `varve rollback`: resolves once the generation that served before serves again. */
export async function rollback(settings: OperatorSettings): Promise<void> {
  await withOperations(settings, async (operations) => {
    for await (const { number } of operations.run('rollback', {})) {
      console.log(`generation ${number} is live; varve rollback switches back again`);
    }
  });
}

/** `varve drop`: resolves after all kept generations are removed. */
export async function drop(settings: OperatorSettings): Promise<void> {
  await withOperations(settings, async (operations) => {
    let count = 0;
    for await (const { number } of operations.run('drop', {})) {
      console.log(`generation ${number} is removed`);
      count++;
    }
    if (count === 0) console.log('no generation is kept');
  });
}

import type { OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';

/** `varve rollback`: resolves once the generation that served before serves again. */
export async function rollback(settings: OperatorSettings): Promise<void> {
  await withOperations(settings, async (operations) => {
    for await (const { number } of operations.run('rollback', {})) {
      console.log(`generation ${number} serves; varve rollback goes back again`);
    }
  });
}

/** `varve drop`: resolves once no generation is kept. */
export async function drop(settings: OperatorSettings): Promise<void> {
  await withOperations(settings, async (operations) => {
    let count = 0;
    for await (const { number } of operations.run('drop', {})) {
      console.log(`generation ${number} is gone`);
      count++;
    }
    if (count === 0) console.log('no generation is kept');
  });
}

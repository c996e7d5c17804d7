/** `npm run plan`: writes the tables of docs/scaling.md anew, from what `npm run bench:sync` has kept. */
import { readFigures } from './syncFigures.mts';
import { writeTables } from './syncTables.mts';

await writeTables(await readFigures());

/** `npm run test:random -- <times>`: runs the unit and engine tests with another seed each time, until one fails. */
import { randomInt } from 'node:crypto';
import execa from 'execa';
import { projectRoot } from '../host/paths.mts';

const times = Number(process.argv[2] ?? 10);
for (let time = 1; time <= times; time++) {
	const TEST_SEED = String(randomInt(2 ** 31));
	const options = { cwd: projectRoot, preferLocal: true, all: true, reject: false } as const;
	const args = ['--selectProjects', 'unit', 'engine'];
	const { failed, all } = await execa('jest', args, { ...options, env: { TEST_SEED } });
	console.log(`${failed ? '✗' : '✓'} ${time} of ${times}: TEST_SEED=${TEST_SEED}`);
	if (!failed) continue;
	console.error(`${all}\nFails again with: TEST_SEED=${TEST_SEED} npm test`);
	process.exitCode = 1;
	break;
}

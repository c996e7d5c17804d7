/** Ends with a sentence where a service is missing that `npm run test:queue` needs. */
import { describeError } from '../../host/trouble.mts';
import { requireServices } from './services.mts';

try {
	await requireServices();
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}

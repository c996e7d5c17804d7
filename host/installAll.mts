/** Installs each n8n that the tests run in, one at a time. While a host is compiled, tests would exceed their time limits. */
import { installHost } from './install.mts';
import { reportTo } from './progress.mts';

for (const name of ['2', '1', 'lowest']) await installHost(name, reportTo(process.stderr));

import type { Page } from 'playwright-core';

/** Icons, and schemas of outputs. */
const packageFile = /^\/(icons|schemas)\/n8n-nodes-resume-management[./]/;

/** The editor asks for one for each operation; those whose answer nobody has described have none. */
const schemas = '/schemas/';

/** What n8n 2.41 itself says when a new workflow is opened from the list of workflows. */
const ofN8n = 'injectNDVStore()';

/**
 * What goes wrong in a tab: what its console shows in red, and requests for the package's files that fail.
 *
 * @param origin n8n's: the editor also asks servers of n8n's makers and npm's, which are out of reach
 */
export function watch(page: Page, origin: string): string[] {
	const errors: string[] = [];
	page.on('pageerror', (error) => errors.push(error.message));
	page.on('console', (message) => {
		const { url } = message.location();
		const isElsewhere = url !== '' && !url.startsWith(origin);
		if (message.type() !== 'error' || isElsewhere || url.includes(schemas)) return;
		if (!message.text().includes(ofN8n)) errors.push(`${message.text()} ${url}`);
	});
	page.on('response', (response) => {
		const { pathname } = new URL(response.url());
		if (response.ok() || !packageFile.test(pathname) || pathname.startsWith(schemas)) return;
		errors.push(`${response.status()} ${pathname}`);
	});
	page.on('requestfailed', (request) => {
		const reason = request.failure()?.errorText ?? '';
		// What was under way when the tab went on to another page.
		if (reason === 'net::ERR_ABORTED' || !packageFile.test(new URL(request.url()).pathname)) return;
		errors.push(`${reason} ${request.url()}`);
	});
	return errors;
}

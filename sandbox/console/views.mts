import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';

/** Where the pages are on the sandbox's port; templates know it as `it.root`. */
export const CONSOLE_PATH = '/console';

const eta = new Eta({ views: import.meta.dirname, cache: true });

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

const timeFormat = new Intl.DateTimeFormat('en-GB', {
	dateStyle: 'medium',
	timeStyle: 'medium',
	timeZone: 'UTC',
});

/** What every template can use. Times are Unix timestamps in milliseconds. */
const helpers = {
	root: CONSOLE_PATH,
	iso: (time: number) => new Date(time).toISOString(),
	/** E.g. `1 Nov 2026`. */
	date: (time: number) => dateFormat.format(time),
	/** E.g. `1 Nov 2026, 14:03:22 UTC`. */
	time: (time: number) => `${timeFormat.format(time)} UTC`,
	/** E.g. `1 delivery` or `2 deliveries`. */
	count: (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`,
};

/**
 * Renders a template of this folder. Templates escape every value that they print.
 *
 * @param view name of the template, without its ending
 * @param data what the template reads from `it`; `title` is the page's
 */
export function sendPage(
	reply: FastifyReply,
	view: string,
	data: { title?: string; [name: string]: unknown },
): FastifyReply {
	return reply.type('text/html; charset=utf-8').send(eta.render(view, { ...helpers, ...data }));
}

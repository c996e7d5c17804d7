import { exactText, isObject, valueAt } from '../../shared/json';
import { plainName } from '../../shared/names';
import type { Reply } from '../http/answer';

/** What a reply says about the list that it is a part of. */
export interface Signs {
	/** Whether the list goes on; undefined where the reply does not say. */
	more?: boolean;
	/** How many records the list has; 0 where the reply does not say. */
	total: number;
}

/** The usual names, as `plainName` writes them. The specification shows none (§4.2). */
const FLAGS = ['hasmore', 'hasmorepages', 'hasnext', 'hasnextpage', 'istruncated'];
const LINKS = [
	...['next', 'nextpage', 'nextpageurl', 'nextlink', 'nexturl', 'nextoffset', '@odatanextlink'],
	...['nextcursor', 'nexttoken', 'nextpagetoken'],
];
// Not `count`, which mostly is that of the page.
const TOTALS = [
	...['total', 'totalcount', 'totalitems', 'totalrecords', 'totalresults', 'totalelements'],
	...['totaldocs', '@odatacount'],
];
const PAGES = ['totalpages', 'pagecount', 'lastpage', 'pages'];
const PLACES = [
	...['data', 'meta', '_meta', 'metadata', 'pagination', 'paging', 'page', 'pageinfo'],
	...['resultinfo', 'links', '_links'],
];

/** Levels that are looked at, the answer being the first. */
const DEEPEST = 4;

/**
 * A number of pages that are to come counts most. A flag counts more than a link, which some services send for
 * ever, and than a cursor, which they send with the last page, too.
 * @param path of the list, whose signs may stand beside it
 * @param read how many pages have been read, this one included
 * @param cursor of the next page, where the user said where it is
 */
export function signsOf({ body, headers }: Reply, path: string, read = 1, cursor?: unknown): Signs {
	const keys = path.split('.').slice(0, -1);
	const around = keys.map((_, index) => valueAt(body, keys.slice(0, index + 1).join('.')));
	const properties = [body, ...around].flatMap((place) => propertiesIn(place, DEEPEST));
	const valuesOf = (names: string[]) =>
		properties.filter(([name]) => names.includes(name)).map(([, value]) => value);
	const range = /\/(\d+)$/.exec(String(headers['content-range'] ?? ''))?.[1];
	const isLast = valuesOf(['last']).map((last) => (typeof last === 'boolean' ? !last : undefined));
	const isLinked = /;\s*rel="?[^";,]*\bnext\b/i.test(String(headers.link ?? '')) || undefined;
	const pages = largest(valuesOf(PAGES));
	return {
		more:
			(pages > read || undefined) ??
			anyMore([...valuesOf(FLAGS).filter(isGiven), ...isLast]) ??
			anyMore([...valuesOf(LINKS), isLinked, cursor]) ??
			(pages > 0 ? false : undefined),
		total: largest([...valuesOf(TOTALS), headers['x-total-count'], range]),
	};
}

/** A flag without a value says nothing, while a link without one says that there is no more. */
function isGiven(value: unknown): boolean {
	return value !== null && value !== '';
}

function propertiesIn(value: unknown, levels: number): Array<[name: string, value: unknown]> {
	// Such as `links: [{ rel: 'next', href: '…' }]`, but not a list of records.
	if (Array.isArray(value) && value.length <= 10) {
		return value.filter(isObject).map(({ rel, href }) => [plainName(String(rel)), href]);
	}
	if (!isObject(value) || levels === 0) return [];
	return Object.entries(value).flatMap(([name, inner]) => {
		const plain = plainName(name);
		return [[plain, inner], ...(PLACES.includes(plain) ? propertiesIn(inner, levels - 1) : [])];
	});
}

function largest(values: unknown[]): number {
	const texts = values.map((value) => exactText(value)?.trim() ?? '');
	const numbers = texts.filter((text) => /^\d{1,15}$/.test(text)).map(Number);
	return numbers.reduce((one, other) => Math.max(one, other), 0);
}

function anyMore(values: unknown[]): boolean | undefined {
	const said = values.map(saysMore);
	return said.includes(true) || (said.includes(false) ? false : undefined);
}

/** Undefined for what says neither, such as 0, which may be any page. */
function saysMore(value: unknown): boolean | undefined {
	if (value === null) return false;
	if (value === undefined || value === '0') return undefined;
	if (typeof value === 'object') return Object.keys(value).length > 0 || undefined;
	if (typeof value === 'number') return value > 0 || undefined;
	return !['', 'false'].includes(String(value));
}

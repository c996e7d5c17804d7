import { Failure } from '../../shared/failure';
import { idOf } from './ids';

/** The records of all pages of a list, each once. A list may change while it is read, so that records come again. */
export class PageRecords {
	readonly records: unknown[] = [];

	/** IDs on all pages. */
	private readonly ids = new Set<string>();

	/** Records without an ID on all pages, as JSON. */
	private readonly withoutId = new Set<string>();

	private lastPage: unknown[] = [];

	/** @param list its name, such as `users` */
	constructor(private readonly list: string) {}

	/** Checks whether all of these records have IDs, and these are the IDs of the page that was added last. */
	isSamePageAgain(page: unknown[]): boolean {
		const ids = this.idsOf(page);
		const haveIds = page.length > 0 && ids.every((id) => id !== undefined);
		return haveIds && ids.sort().join() === this.idsOf(this.lastPage).sort().join();
	}

	/** @throws Failure if a record without an ID was on an earlier page: the service may have sent that page again */
	refuseRepeated(page: unknown[]): void {
		if (this.textsWithoutId(page).some((text) => this.withoutId.has(text))) {
			throw new Failure('list.samePage', { what: 'A record without an ID came twice.' });
		}
	}

	/**
	 * Adds the records of a page, without those whose IDs were on an earlier page.
	 * @throws Failure if different records of the page have the same ID
	 */
	add(page: unknown[]): void {
		this.refuseSameId(page);
		for (const record of page) {
			const id = idOf(record, this.list);
			if (id === undefined || !this.ids.has(id)) this.records.push(record);
			if (id !== undefined) this.ids.add(id);
		}
		for (const text of this.textsWithoutId(page)) this.withoutId.add(text);
		this.lastPage = page;
	}

	private refuseSameId(page: unknown[]): void {
		const onPage = new Map<string, unknown>();
		for (const record of page) {
			const id = idOf(record, this.list);
			if (id === undefined) continue;
			const isOther = onPage.has(id) && JSON.stringify(onPage.get(id)) !== JSON.stringify(record);
			if (isOther) throw new Failure('list.sameId');
			onPage.set(id, record);
		}
	}

	private idsOf(page: unknown[]): Array<string | undefined> {
		return page.map((record) => idOf(record, this.list));
	}

	private textsWithoutId(page: unknown[]): string[] {
		const records = page.filter((record) => idOf(record, this.list) === undefined);
		return records.map((record) => JSON.stringify(record));
	}
}

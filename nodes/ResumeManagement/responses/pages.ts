import { Failure } from '../../shared/failure';
import type { JsonBody, ParsedResponse } from '../http/judge';
import { type ListPlace, requireList } from './findList';
import { type ListEnd, listEndOf } from './listEnd';
import { PageRecords } from './pageRecords';
import type { Pagination } from './pagination';

/** The pages of a list that were read. */
export class Pages {
	/** Responses of the pages that have records, and of the first page. */
	readonly bodies: JsonBody[] = [];

	/** What the pages say about the end of the list. */
	end?: ListEnd;

	/** True if the page that was added last has the records of the page before. */
	isRepeated = false;

	private readonly read: PageRecords;

	private count = 0;

	/** @param pathOption name of the option for the list's path, for errors */
	constructor(
		private place: ListPlace,
		private readonly pathOption: string,
		private readonly mode: Pagination['mode'],
	) {
		this.read = new PageRecords(place.name);
	}

	get records(): unknown[] {
		return this.read.records;
	}

	/** @returns the number of records on the page @throws Failure */
	add(response: ParsedResponse & { body: JsonBody }): number {
		const { body } = response;
		const { path, records } = requireList(body, this.place, this.pathOption);
		// The list's path on the first page counts for all pages, so that no other list is mistaken for it.
		this.place = { ...this.place, path };
		this.count++;

		this.isRepeated = this.read.isSamePageAgain(records);
		if (this.isRepeated && !this.mayRepeatLastPage()) {
			throw new Failure('list.samePage', { what: 'A page has the records of the page before.' });
		}
		// A cursor shows by itself whether it moves on, so that equal records are different records.
		if (this.mode !== 'cursor') this.read.refuseRepeated(records);
		this.read.add(records);
		if (this.count === 1 || (records.length > 0 && !this.isRepeated)) this.bodies.push(body);

		const read = { records: this.records.length, pages: this.count };
		this.end = listEndOf(response, read, this.end);
		return records.length;
	}

	/** Checks whether a page that is equal to the page before means that the list has ended. */
	private mayRepeatLastPage(): boolean {
		switch (this.mode) {
			case 'pageNumber':
				// Some services send the last page again for each number past the end. If the second page is equal to the
				// first, the service more likely does not know the parameter.
				return this.count > 2;
			case 'offset':
				// The service may count hidden records, so that the list may go on.
				return false;
			case 'cursor':
				return false;
		}
	}
}

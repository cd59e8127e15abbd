//! TK103 sentences with cells and wireless networks.

use crate::notation::fields::{Fields, hex};
use crate::report::{CellTower, Report};

use super::kind::set_kind;
use super::position::date_and_time;

/// `mcc,mnc,lac,cell,signal` and further `lac,cell,signal` of neighbouring cells; `lac` and `cell` are hexadecimal.
pub(super) fn read_neighbours(content: &str) -> Option<Report> {
    let mut fields = Fields::split(content, ',');
    let (mcc, mnc) = (fields.number()?, fields.number()?);
    let mut report = Report::default();
    while fields.remaining() >= 2 {
        let (lac, cell) = (u32::try_from(fields.hex()?).ok()?, fields.hex()?);
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal: fields.number() });
    }
    (!report.cells.is_empty()).then_some(report)
}

/// `mcc,mnc,lac,cell,count,address*signal*channel,…,ddMMyy,HHmmss`.
pub(super) fn read_access_points(kind: &str, content: &str) -> Option<Report> {
    let mut fields = Fields::split(content, ',');
    let mut report = Report::default();
    set_kind(&mut report, kind, "");
    let (mcc, mnc) = (fields.number()?, fields.number()?);
    let (lac, cell): (u32, u64) = (fields.number()?, fields.number()?);
    report.cell(mcc, mnc, lac, cell);
    let _count = fields.take();
    while fields.peek(0).contains('*') {
        let mut parts = fields.take().split('*');
        let bytes: Vec<u8> = parts
            .next()?
            .split(':')
            .filter_map(|byte| hex(byte).and_then(|byte| u8::try_from(byte).ok()))
            .collect();
        if let Ok(mac) = <[u8; 6]>::try_from(bytes) {
            report.access_point(mac, parts.next().and_then(|signal| signal.parse().ok()));
        }
    }
    report.time = date_and_time(fields.take(), fields.take(), true);
    Some(report)
}

/// `name,{mcc,mnc,lac,cell}…,mileage` of units without a fix.
pub(super) fn read_braced_cells(content: &str) -> Option<Report> {
    let mut report = Report::default();
    for braced in content.split('{').skip(1) {
        let mut fields = Fields::split(braced.split('}').next()?, ',');
        let (mcc, mnc) = (fields.number()?, fields.number()?);
        let (lac, cell): (u32, u64) = (fields.number()?, fields.number()?);
        report.cell(mcc, mnc, lac, cell);
    }
    let last = content.rsplit(',').next().filter(|last| last.len() == 8);
    report.set_some("odometer", last.and_then(hex));
    (!report.cells.is_empty()).then_some(report)
}

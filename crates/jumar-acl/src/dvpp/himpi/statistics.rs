//! Histograms and look-up tables, which lie in device memory of the program.

use jumar_dvpp::Sink;
use jumar_dvpp::vpc::{apply_tables, count};
use jumar_types::Result;

use super::super::statistics::{
    COUNTS_BYTES, TABLES_BYTES, check_histogram, check_tables, histogram_bytes, read_tables,
};
use super::super::task::{self, Accesses, check_disjoint};
use super::vpc::Call;
use crate::Cx;
use crate::error::null;
use crate::generated::types;

const _: () = assert!(size_of::<types::hi_vpc_histogram_config>() == COUNTS_BYTES);
const _: () = assert!(size_of::<types::hi_vpc_lut_remap>() == TABLES_BYTES);

pub fn hi_mpi_vpc_calc_hist(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    counts: usize,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let input = call.input(source)?;
    check_histogram(&input.image, "source_pic")?;
    if counts == 0 {
        return Err(null("hist_config"));
    }
    let stream = &call.channel.stream;
    let counts = task::memory(stream, counts, COUNTS_BYTES, "hist_config")?;
    let accesses = Accesses {
        reads: vec![input.memory.0],
        writes: vec![counts.0],
    };
    call.channel.queue(cx, milliseconds, &accesses, move || {
        let counted = count(&input.image, &input.memory)?;
        counts.write(0, &histogram_bytes(&counted));
        Ok(())
    })
}

/// The tables are read when the task runs.
pub fn hi_mpi_vpc_equalize_hist(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    target: Option<&types::hi_vpc_pic_info>,
    tables: usize,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let input = call.input(source)?;
    let output = call.output(target.ok_or_else(|| null("dest_pic"))?, "dest_pic")?;
    check_tables(&input.image, &output.image, ["source_pic", "dest_pic"])?;
    check_disjoint(&input, &output)?;
    if tables == 0 {
        return Err(null("lut_remap"));
    }
    let stream = &call.channel.stream;
    let tables = task::memory(stream, tables, TABLES_BYTES, "lut_remap")?;
    let accesses = Accesses {
        reads: vec![input.memory.0, tables.0],
        writes: vec![output.memory.0],
    };
    call.channel.queue(cx, milliseconds, &accesses, move || {
        let memory = &output.memory;
        apply_tables(
            &input.image,
            &output.image,
            &read_tables(tables),
            (&input.memory, memory, memory),
        )
    })
}

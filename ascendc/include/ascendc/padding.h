// Padding of DataCopyPad that was not given a value. Elementwise functions may compute with it, as the results there are usually not used.
// Reductions and copies to global memory may not. A part of the checks of order (order.h).
#ifndef JUMAR_ASCENDC_PADDING_H
#define JUMAR_ASCENDC_PADDING_H

#include <algorithm>
#include <vector>

#include "core.h"

namespace jumar {
namespace ascendc {

// For each byte of UB the call whose padding it is.
class PaddingMap {
public:
    bool is_empty() const { return marked_ == 0; }
    void mark(uint64_t begin, uint64_t end, Site site)
    {
        if (bytes_.empty()) bytes_.resize(memory_info(MEMORY_UB).bytes);
        uint16_t number = 0;
        while (number < sites_.size() && !(sites_[number].line == site.line && sites_[number].file == site.file)) number++;
        if (number == sites_.size()) {
            if (number == MOST_SITES) return;
            sites_.push_back(site);
        }
        for (uint64_t at = begin; at < end && at < bytes_.size(); at++) {
            marked_ += bytes_[at] == 0;
            bytes_[at] = static_cast<uint16_t>(number + 1);
        }
    }
    void clear(uint64_t begin, uint64_t end)
    {
        for (uint64_t at = begin; marked_ > 0 && at < end && at < bytes_.size(); at++) {
            marked_ -= bytes_[at] != 0;
            bytes_[at] = 0;
        }
    }
    void clear()
    {
        if (marked_ > 0) std::fill(bytes_.begin(), bytes_.end(), uint16_t(0));
        marked_ = 0;
    }
    // Returns the first byte of padding in a range, or its end.
    uint64_t find(uint64_t begin, uint64_t end) const
    {
        if (marked_ == 0) return end;
        while (begin < end && begin < bytes_.size() && bytes_[begin] == 0) begin++;
        return begin < bytes_.size() ? begin : end;
    }
    // The call that a byte of padding is from.
    Site site(uint64_t at) const { return sites_[bytes_[at] - 1u]; }

private:
    static constexpr size_t MOST_SITES = 65534;
    std::vector<uint16_t> bytes_;
    std::vector<Site> sites_;
    uint64_t marked_ = 0;
};

} // namespace ascendc
} // namespace jumar

#endif

// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

/// Contracts of the study of sweeps (gas.ts). None of them is ever deployed anywhere else.

interface IERC20 {
    function transfer(address to, uint256 units) external returns (bool);
    function transferFrom(address from, address to, uint256 units) external returns (bool);
}

/// OpenZeppelin's ERC-20 with EIP-2612 and EIP-3009.
contract SignedToken is ERC20, ERC20Permit {
    bytes32 private constant TRANSFER =
        keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    bytes32 private constant RECEIVE =
        keccak256("ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    constructor(address holder) ERC20("Signed", "SGN") ERC20Permit("Signed") {
        _mint(holder, 1e24);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        _authorized(TRANSFER, from, to, value, validAfter, validBefore, nonce, v, r, s);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        require(to == msg.sender, "caller must be the payee");
        _authorized(RECEIVE, from, to, value, validAfter, validBefore, nonce, v, r, s);
    }

    function _authorized(
        bytes32 what, address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) private {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "not valid now");
        require(!authorizationState[from][nonce], "used");
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(what, from, to, value, validAfter, validBefore, nonce)));
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0) && signer == from, "another signer");
        authorizationState[from][nonce] = true;
        _transfer(from, to, value);
    }
}

/// As the large issuers' tokens: behind a proxy, can be paused, and checks a list of blocked accounts twice per transfer.
contract GuardedToken is ERC20 {
    bool public paused;
    mapping(address => bool) public blocked;

    constructor() ERC20("Guarded", "GRD") {}

    function mint(address to, uint256 units) external {
        _mint(to, units);
    }

    function setBlocked(address account, bool to) external {
        blocked[account] = to;
    }

    function _beforeTokenTransfer(address from, address to, uint256) internal view override {
        require(!paused, "paused");
        require(!blocked[from] && !blocked[to], "blocked");
    }
}

contract GuardedProxy is ERC1967Proxy {
    constructor(address implementation) ERC1967Proxy(implementation, "") {}
}

/// A signature as EIP-2098 packs it: the parity is the highest bit of `s`.
struct Signed {
    /// Owner (20 bytes) and units (12 bytes).
    bytes32 item;
    bytes32 r;
    bytes32 vs;
}

/// Batches of transfers that the owners have signed for the token (EIP-2612, EIP-3009). A failing one does not stop the others.
contract SignatureBatch {
    address private immutable HOT;

    constructor(address hot) {
        HOT = hot;
    }

    /// @param forEver whether everything is approved for ever, or only these units
    function permitAndMove(address token, Signed[] calldata all, bool forEver) external {
        require(msg.sender == HOT);
        for (uint256 at = 0; at < all.length; at++) {
            (address owner, uint256 units) = _open(all[at].item);
            (uint8 v, bytes32 s) = _split(all[at].vs);
            uint256 value = forEver ? type(uint256).max : units;
            try ERC20Permit(token).permit(owner, address(this), value, type(uint256).max, v, all[at].r, s) {} catch {}
            try IERC20(token).transferFrom(owner, HOT, units) {} catch {}
        }
    }

    /// For owners whose permit is for ever.
    function move(address token, bytes32[] calldata items) external {
        require(msg.sender == HOT);
        for (uint256 at = 0; at < items.length; at++) {
            (address owner, uint256 units) = _open(items[at]);
            try IERC20(token).transferFrom(owner, HOT, units) {} catch {}
        }
    }

    /// EIP-3009 wants the payee as caller, so the tokens pass through here.
    function receiveAll(address token, Signed[] calldata all, bytes32 nonce) external {
        require(msg.sender == HOT);
        uint256 sum;
        for (uint256 at = 0; at < all.length; at++) {
            (address owner, uint256 units) = _open(all[at].item);
            (uint8 v, bytes32 s) = _split(all[at].vs);
            try SignedToken(token).receiveWithAuthorization(owner, address(this), units, 0, type(uint256).max, nonce, v, all[at].r, s) {
                sum += units;
            } catch {}
        }
        IERC20(token).transfer(HOT, sum);
    }

    /// The same to the hot wallet itself. Anybody could submit the signature first, which would pay the hot wallet as well.
    function transferAll(address token, Signed[] calldata all, bytes32 nonce) external {
        require(msg.sender == HOT);
        for (uint256 at = 0; at < all.length; at++) {
            (address owner, uint256 units) = _open(all[at].item);
            (uint8 v, bytes32 s) = _split(all[at].vs);
            try SignedToken(token).transferWithAuthorization(owner, HOT, units, 0, type(uint256).max, nonce, v, all[at].r, s) {} catch {}
        }
    }

    function _open(bytes32 item) private pure returns (address owner, uint256 units) {
        return (address(bytes20(item)), uint96(uint256(item)));
    }

    function _split(bytes32 vs) private pure returns (uint8 v, bytes32 s) {
        return (uint8((uint256(vs) >> 255) + 27), vs & bytes32(uint256(type(int256).max)));
    }
}

/// What the public Multicall3 does, with the same call data: for chains where no contract of ours is wanted.
contract Multicall {
    struct Call {
        address target;
        bool allowFailure;
        bytes callData;
    }
    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 at = 0; at < calls.length; at++) {
            (results[at].success, results[at].returnData) = calls[at].target.call(calls[at].callData);
            require(results[at].success || calls[at].allowFailure, "failed");
        }
    }
}

/// A forwarder that exists only while it is swept: it asks its maker what to move, moves it, and is gone at the end of the
/// transaction (EIP-6780 still deletes what the same transaction has made), so the next sweep can make it again. Were it to leave an
/// empty account instead, its nonce would forbid that for ever.
contract BriefForwarder {
    constructor() {
        (address token, uint256 units, address hot) = Forwarders(msg.sender).next();
        assembly ("memory-safe") {
            let call_ := mload(0x40)
            mstore(call_, 0xa9059cbb00000000000000000000000000000000000000000000000000000000)
            mstore(add(call_, 4), hot)
            mstore(add(call_, 36), units)
            pop(call(gas(), token, 0, call_, 68, 0, 0))
            selfdestruct(caller())
        }
    }
}

/// The code behind lasting forwarders (EIP-1167 proxies). Only the factory may call it.
contract ForwarderCode {
    address private immutable HOT;
    address private immutable FACTORY;

    constructor(address hot) {
        HOT = hot;
        FACTORY = msg.sender;
    }

    receive() external payable {}

    function move(address token, uint256 units) external {
        require(msg.sender == FACTORY);
        IERC20(token).transfer(HOT, units);
    }
}

/// Makes and sweeps forwarders by CREATE2. An item is a salt (20 bytes) or, for one that exists, its address; and units (12 bytes).
contract Forwarders {
    address private immutable HOT;
    ForwarderCode public immutable CODE;
    address private transient token_;
    uint256 private transient units_;

    constructor(address hot) {
        HOT = hot;
        CODE = new ForwarderCode(hot);
    }

    function next() external view returns (address, uint256, address) {
        return (token_, units_, HOT);
    }

    function briefCode() public pure returns (bytes memory) {
        return type(BriefForwarder).creationCode;
    }

    function proxyCode() public view returns (bytes memory) {
        return abi.encodePacked(hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", CODE, hex"5af43d82803e903d91602b57fd5bf3");
    }

    function sweepBrief(address token, bytes32[] calldata items) external {
        require(msg.sender == HOT);
        token_ = token;
        bytes memory code = briefCode();
        for (uint256 at = 0; at < items.length; at++) {
            bytes32 item = items[at];
            units_ = uint96(uint256(item));
            assembly ("memory-safe") {
                pop(create2(0, add(code, 32), mload(code), shr(96, item)))
            }
        }
    }

    function makeAndSweep(address token, bytes32[] calldata items) external {
        require(msg.sender == HOT);
        bytes memory code = proxyCode();
        for (uint256 at = 0; at < items.length; at++) {
            bytes32 item = items[at];
            address made;
            assembly ("memory-safe") {
                made := create2(0, add(code, 32), mload(code), shr(96, item))
            }
            try ForwarderCode(payable(made)).move(token, uint96(uint256(item))) {} catch {}
        }
    }

    function sweepMade(address token, bytes32[] calldata items) external {
        require(msg.sender == HOT);
        for (uint256 at = 0; at < items.length; at++) {
            bytes32 item = items[at];
            try ForwarderCode(payable(address(bytes20(item)))).move(token, uint96(uint256(item))) {} catch {}
        }
    }
}
